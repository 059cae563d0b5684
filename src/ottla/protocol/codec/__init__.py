"""Turns declared messages into bytes and back.

`plan` lays a version out; `engine` runs the plan, with the compiled `_decoder` and `_encoder` where they were built and
with `reader` and `writer` otherwise. Those two also explain what is wrong with what the compiled twins refuse.
"""
