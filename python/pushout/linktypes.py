"""Where the IP header of a frame begins, for the link types of captures that carry IP.

*Source*: tcpdump.org/linktypes.html; RFC 1661 and 1662 (PPP), 2516 (PPPoE), 2684 (ATM), 2427 (frame relay), IEEE 802.3
and 802.11, radiotap.org.
"""

from collections.abc import Callable

Header = Callable[[bytes, int], int | None]
"""A header that begins at a place of a frame: where the IP header behind it begins; `None` if there is none."""

IP = (b"\x08\x00", b"\x86\xdd")
"""Types of IPv4 and IPv6 on Ethernet."""

TAGS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")
"""Types of VLAN tags."""

PPPOE = b"\x88\x64"
"""The type of a PPPoE session."""

SNAP = b"\xaa\xaa\x03\x00\x00\x00"
"""An LLC header with SNAP, ahead of a type of Ethernet."""

LONGEST_802_3 = 1500
"""A field up to this is a length, followed by LLC; a larger one is a type."""


def plain(octets: int) -> Header:
    """Skip a header of fixed length, or none."""
    return lambda _, begin: begin + octets


def ethernet(data: bytes, begin: int) -> int | None:
    """Skip addresses, tags and type of Ethernet."""
    return typed(data, begin + 12)


def typed(data: bytes, begin: int) -> int | None:
    """Skip a type of Ethernet, with tags, a PPPoE session or LLC behind it."""
    kind = data[begin : begin + 2]
    while kind in TAGS:
        begin += 4
        kind = data[begin : begin + 2]
    if kind in IP:
        return begin + 2
    if kind == PPPOE:
        return pppoe(data, begin + 2)
    return llc(data, begin + 2) if int.from_bytes(kind) <= LONGEST_802_3 else None


def llc(data: bytes, begin: int) -> int | None:
    """Skip LLC with SNAP."""
    is_snap = data[begin : begin + 6] == SNAP and data[begin + 6 : begin + 8] in IP
    return begin + 8 if is_snap else None


def pppoe(data: bytes, begin: int) -> int | None:
    """Skip the header of a PPPoE session, whose code is 0."""
    return ppp(data, begin + 6) if data[begin : begin + 2] == b"\x11\x00" else None


def ppp(data: bytes, begin: int) -> int | None:
    """Skip address, control and protocol of PPP, each of which may be compressed, or the header of Cisco HDLC."""
    if data[begin : begin + 2] in (b"\x0f\x00", b"\x8f\x00"):
        return typed(data, begin + 2)
    if data[begin : begin + 2] == b"\xff\x03":
        begin += 2
    for protocol in (b"\x00\x21", b"\x00\x57", b"\x21", b"\x57"):
        if data[begin : begin + len(protocol)] == protocol:
            return begin + len(protocol)
    return None


def cooked(protocol: int, octets: int) -> Header:
    """Skip a header of the device "any" of Linux, whose protocol stands at a place."""
    return lambda data, begin: begin + octets if data[begin + protocol : begin + protocol + 2] in IP else None


def wireless(data: bytes, begin: int, *, padded: bool = False) -> int | None:
    """Skip a data frame of 802.11 that is not encrypted; what has no data, or several packets, has no IP header."""
    if len(data) < begin + 2 or data[begin] & 0x0C != 0x08 or data[begin] & 0x40 or data[begin + 1] & 0x40:
        return None
    qos, to_and_from = data[begin] & 0x80, data[begin + 1] & 0x03 == 0x03
    length = 24 + 6 * to_and_from
    if qos:
        if data[begin + length : begin + length + 1] >= b"\x80":
            return None  # several packets in one frame
        length += 2 + 4 * bool(data[begin + 1] & 0x80)
    return llc(data, begin + (-(-length // 4) * 4 if padded else length))


RADIOTAP_PADDED = 0x20
"""The flag that the header of 802.11 is filled up to a multiple of four octets."""


def radiotap(data: bytes, begin: int) -> int | None:
    """Skip what a capture adds to a frame of 802.11."""
    if len(data) < begin + 8:
        return None
    present = first = int.from_bytes(data[begin + 4 : begin + 8], "little")
    at = 8
    while present & 1 << 31 and len(data) >= begin + at + 4:
        present = int.from_bytes(data[begin + at : begin + at + 4], "little")
        at += 4
    if first & 1:  # a time, at a multiple of eight octets
        at = -(-at // 8) * 8 + 8
    flags = data[begin + at] if first & 2 and len(data) > begin + at else 0
    length = int.from_bytes(data[begin + 2 : begin + 4], "little")
    return wireless(data, begin + length, padded=bool(flags & RADIOTAP_PADDED))


def behind(order: str, at: int, octets: int) -> Header:
    """Skip a header in front of 802.11 that has its length at a place."""

    def header(data: bytes, begin: int) -> int | None:
        length = int.from_bytes(data[begin + at : begin + at + octets], "little" if order == "<" else "big")
        return wireless(data, begin + length)

    return header


def ppi(data: bytes, begin: int) -> int | None:
    """Skip a header that names the link type behind it."""
    length, link = (int.from_bytes(data[begin + at : begin + at + size], "little") for at, size in ((2, 2), (4, 4)))
    return LINKS[link](data, begin + length) if link in LINKS and link != PPI else None


def frame_relay(data: bytes, begin: int) -> int | None:
    """Skip an address of two octets, control, and the NLPID of IP or SNAP."""
    nlpid = data[begin + 2 : begin + 4]
    if nlpid in (b"\x03\xcc", b"\x03\x8e"):
        return begin + 4
    is_snap = data[begin + 2 : begin + 8] == b"\x03\x00\x80\x00\x00\x00" and data[begin + 8 : begin + 10] in IP
    return begin + 10 if is_snap else None


def pflog(data: bytes, begin: int) -> int | None:
    """Skip the header of a packet filter, whose length is filled up to a multiple of four octets."""
    return begin + -(-data[begin] // 4) * 4 if len(data) > begin else None


PPI = 192

LINKS: dict[int, Header] = {
    0: plain(4),  # loopback
    1: ethernet,
    9: ppp,
    10: lambda data, begin: llc(data, begin + 13),  # FDDI
    11: llc,  # ATM
    12: plain(0),  # IP itself, on some systems
    14: plain(0),
    50: ppp,  # PPP in HDLC frames
    51: pppoe,
    101: plain(0),  # IP itself
    104: ppp,  # Cisco HDLC
    105: wireless,
    107: frame_relay,
    108: plain(4),  # loopback of OpenBSD
    113: cooked(14, 16),  # "any" of Linux
    117: pflog,
    119: behind("<", 4, 4),  # Prism
    123: lambda data, begin: llc(data, begin + 4),  # ATM of Sun
    127: radiotap,
    163: behind(">", 4, 4),  # AVS
    PPI: ppi,
    228: plain(0),  # IPv4 itself
    229: plain(0),  # IPv6 itself
    276: cooked(0, 20),  # "any" of Linux, second version
}
"""The header of every link type."""
