"""A transfer over QUIC in virtual time: aioquic at both ends of a `pushout.Path`."""

import ssl
from pathlib import Path

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import HandshakeCompleted, StreamDataReceived
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import load_der_x509_certificate

import pushout

KEYS = Path(__file__).parent.parent / "crates" / "net-examples" / "src"
"""A key and a certificate for tests of the loopback."""

HEADERS = 28
"""Octets of IP and UDP, which the stack does not write."""

ADDRESSES = ("client", 4433), ("server", 4433)


def transfer(path: pushout.Path, octets: int, until: float = 60.0) -> tuple[float | None, int]:
    """Send `octets` from a server to a client; return when the last one arrives, if by `until`, and how many do."""
    hosts = path.host("client1"), path.host("server1")
    flow = path.open(*hosts)
    config = QuicConfiguration(is_client=True, verify_mode=ssl.CERT_NONE, server_name="localhost")
    client = QuicConnection(configuration=config)
    config = QuicConfiguration(is_client=False)
    config.certificate = load_der_x509_certificate((KEYS / "server.der").read_bytes())
    config.private_key = load_der_private_key((KEYS / "server.key").read_bytes(), None)
    server = QuicConnection(
        configuration=config, original_destination_connection_id=client.original_destination_connection_id
    )
    ends, contents, received, now = (client, server), {}, 0, 0.0
    speaking = [client]  # the server has no path before the first datagram
    client.connect(ADDRESSES[1], now=now)
    while now < until:
        for end in speaking:
            host = hosts[ends.index(end)]
            for datagram, _ in end.datagrams_to_send(now):
                contents[path.offer(now, host, len(datagram) + HEADERS, flow)] = (host, datagram)
        timers = [end.get_timer() for end in ends]
        due = [at for at in (*timers, path.next()) if at is not None]
        if not due:
            break
        now = max(now, min(due))
        for packet in path.take(now):
            host, datagram = contents.pop(packet.handle)
            if packet.arrived:
                to = 1 if host == hosts[0] else 0
                ends[to].receive_datagram(datagram, ADDRESSES[1 - to], now)
                speaking = [client, server] if to else speaking
        for end, at in zip(ends, timers, strict=True):
            if at is not None and at <= now:
                end.handle_timer(now)
        while event := server.next_event():
            if isinstance(event, HandshakeCompleted):
                server.send_stream_data(server.get_next_available_stream_id(), bytes(octets), end_stream=True)
        while event := client.next_event():
            if isinstance(event, StreamDataReceived):
                received += len(event.data)
                if event.end_stream:
                    return now, received
    return None, received
