"""Commands that run what stands beside a cluster, or talk to it: registry, REST proxy, Connect, pipelines, streams."""
