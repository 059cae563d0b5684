from ottla.storage.segment.end_plain import SegmentEnd as SegmentEnd
