from ottla.protocol.records.scanner_plain import Scanner as Scanner
