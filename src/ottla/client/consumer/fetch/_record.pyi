from ottla.client.consumer.fetch.record_plain import Record as Record
from ottla.client.consumer.fetch.record_plain import RecordReader as RecordReader
