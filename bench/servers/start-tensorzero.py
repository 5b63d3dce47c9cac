"""TensorZero's HTTP gateway, which its package for Python holds; Python itself does nothing but wait. Arguments: its configuration, the file for its address."""

import sys
import threading

from tensorzero import _start_http_gateway

config, address = sys.argv[1:]
gateway = _start_http_gateway(config_file=config, clickhouse_url=None, postgres_url=None, valkey_url=None, async_setup=False)
with open(address, "w", encoding="utf-8") as file:
    file.write(gateway.base_url)
threading.Event().wait()
