from ottla.client.producer.append_plain import Appender as Appender
from ottla.client.producer.append_plain import RecordBuffer as RecordBuffer
from ottla.client.producer.append_plain import SendFuture as SendFuture
from ottla.client.producer.append_plain import TopicLane as TopicLane
