"""Record batches: read, written, checked and patched; no I/O.

`batch` is the view on a header, `reader` and `writer` go between bytes and records (`record`), `validation` is what a
leader checks, `control` the markers, `legacy` the two old formats, `arrow` whole columns. `frames` holds the loops over
records, compiled where possible.
"""
