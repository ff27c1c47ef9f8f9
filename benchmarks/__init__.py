"""Speed and memory against the peers: one adapter per peer, one signature, all contenders in one interleaved run.

``python -m benchmarks.run --help`` tells the options; ``README.md`` beside this file how to read the result.
"""
