from ottla.storage.log.end_plain import LogEnd as LogEnd
