from ottla.net.channel_plain import GONE as GONE
from ottla.net.channel_plain import Channel as Channel
from ottla.net.channel_plain import Exchange as Exchange
from ottla.net.channel_plain import flush_all as flush_all
