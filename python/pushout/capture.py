"""Read IP packets from captures: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng).

A host whose network card divides what it sends, or joins what it receives, captures records that are no packets of a
link. A capture with a record longer than any frame is of such a host: its TCP records are divided again.
"""

import struct
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pushout.linktypes import LINKS

PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 6),
    b"\xa1\xb2\xc3\xd4": (">", 6),
    b"\x4d\x3c\xb2\xa1": ("<", 9),
    b"\xa1\xb2\x3c\x4d": (">", 9),
}
"""First octets of a pcap file: the order of octets, and the decimals of its times."""

PCAPNG = b"\x0a\x0d\x0d\x0a"
"""First octets of a pcapng file: its first block."""

SECTION, INTERFACE, SIMPLE, PACKET = 0x0A0D0D0A, 1, 3, 6
LITTLE_ENDIAN, BIG_ENDIAN = b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"
RESOLUTION = 9
"""The option that gives the unit of times."""

MOST_OCTETS = 2**26
"""Length of a block; a longer one is damage."""


LONGEST_PACKET = 9216
"""Octets of the longest IP packet of an Ethernet; a longer record is several packets, which a network card divides."""

DIVIDED = 1500
"""Octets of the packets into which a record is divided then."""

TCP, UDP = 6, 17
"""The protocol numbers of TCP and UDP."""

PROTOCOLS = {1: "icmp", TCP: "tcp", UDP: "udp", 33: "dccp", 58: "icmp6", 132: "sctp", 136: "udplite"}
"""Names of protocols (IANA); others go by their number."""

WITH_PORTS = (TCP, UDP, 33, 132, 136)
"""Protocols whose header begins with the ports of its ends."""

EXTENSIONS = (0, 43, 60)
"""Headers of IPv6 between the first one and that of a protocol, each with its length (RFC 8200, section 4)."""

FRAGMENT = 44
"""The header of a fragment of IPv6, of eight octets."""


class CaptureError(ValueError):
    """A capture is damaged or of an unknown kind."""


class Interface(NamedTuple):
    """The interface of a capture: its link type, and the decimals of its times."""

    link: int
    digits: int


def is_capture(file: BinaryIO, path: Path) -> bool:
    """Return whether a file is a capture, by its first octets or, if it is empty, by its name."""
    start = file.read(4)
    file.seek(0)
    return start in PCAP or start == PCAPNG or path.suffix in (".pcap", ".pcapng", ".cap")


def packets(file: BinaryIO) -> Iterator[tuple[int, int, int, int]]:
    """Yield time, decimals of the time, octets and number of every IP packet; the first packet is at time 0."""
    for time, digits, octets, number, _, _ in _packets(file):
        yield time, digits, octets, number


def packets_of_flows(file: BinaryIO) -> Iterator[tuple[int, int, int, int, str]]:
    """Like `packets`, with the flow of each: protocol, addresses and ports, as `tcp 10.0.0.1:80>10.0.0.2:5001`."""
    for time, digits, octets, number, begin, data in _packets(file):
        yield time, digits, octets, number, _flow(data, begin)


def _packets(file: BinaryIO) -> Iterator[tuple[int, int, int, int, int, bytes]]:
    """Yield for every packet also where its IP header begins, and its captured octets."""
    start = file.read(4)
    if start not in PCAP and start != PCAPNG:
        raise CaptureError("must be a capture in the format pcap or pcapng")
    is_joined = joins(file)
    first: tuple[int, int] | None = None
    for number, (time, (link, digits), data, length) in enumerate(_records(file), 1):
        first = first or (time, digits)
        finest = max(digits, first[1])
        since = time * 10 ** (finest - digits) - first[0] * 10 ** (finest - first[1])
        if since < 0:
            raise CaptureError(f"packet {number}: its time is before that of the first packet; sort the file by time")
        if octets := _ip_octets(link, data, length, number):
            begin = LINKS[link](data, 0) or 0
            for size in _divided(begin, data, octets, number) if is_joined else (octets,):
                yield since, finest, size, number, begin, data


def _flow(data: bytes, begin: int) -> str:
    """Name the flow of an IP packet; one without ports, as a later fragment, goes by addresses and protocol."""
    if data[begin] >> 4 == 4:
        ends = data[begin + 12 : begin + 16], data[begin + 16 : begin + 20]
        protocol, head = data[begin + 9] if len(data) > begin + 9 else 0, begin + (data[begin] & 15) * 4
        has_ports = not int.from_bytes(data[begin + 6 : begin + 8]) & 0x1FFF
    else:
        ends = data[begin + 8 : begin + 24], data[begin + 24 : begin + 40]
        protocol, head, has_ports = _upper(data, begin)
    name = PROTOCOLS.get(protocol, str(protocol))
    if len(ends[1]) not in (4, 16):
        return name
    source, sink = map(str, map(ip_address, ends))
    if protocol not in WITH_PORTS or not has_ports or len(data) < head + 4:
        return f"{name} {source}>{sink}"
    first, second = struct.unpack_from(">HH", data, head)
    form = "{}:{}" if len(ends[0]) == 4 else "[{}]:{}"
    return f"{name} {form.format(source, first)}>{form.format(sink, second)}"


def _upper(data: bytes, begin: int) -> tuple[int, int, bool]:
    """Return the protocol of a packet of IPv6, where its header begins, and whether it is in this fragment."""
    protocol, head = data[begin + 6] if len(data) > begin + 6 else 0, begin + 40
    while protocol in (*EXTENSIONS, FRAGMENT) and len(data) >= head + 8:
        if protocol == FRAGMENT and int.from_bytes(data[head + 2 : head + 4]) & 0xFFF8:
            return data[head], head, False
        protocol, head = data[head], head + (8 if protocol == FRAGMENT else 8 * (data[head + 1] + 1))
    return protocol, head, True


def joins(file: BinaryIO) -> bool:
    """Return whether a capture has a record longer than any packet of a link; the file is read from its beginning."""
    try:
        return any(length > LONGEST_PACKET for _, _, _, length in _records(file))
    except CaptureError:
        return False  # the packets ahead of the damage are read before it is reported


def _records(file: BinaryIO) -> "Iterator[Captured]":
    """Yield the records of a capture, from the beginning of its file."""
    file.seek(0)
    start = file.read(4)
    return _pcapng(file) if start == PCAPNG else _pcap(file, *PCAP[start])


def _divided(begin: int, data: bytes, octets: int, number: int) -> Iterator[int]:
    """Yield the octets of the packets that a record of TCP was or will be; its IP header begins at `begin`."""
    if octets <= DIVIDED:
        yield octets
        return
    is_4 = data[begin] >> 4 == 4
    head, protocol = (
        ((data[begin] & 15) * 4, data[begin + 9 : begin + 10]) if is_4 else (40, data[begin + 6 : begin + 7])
    )
    offset = data[begin + head + 12 : begin + head + 13]
    if protocol != bytes([TCP]) or not offset:
        raise CaptureError(
            f"packet {number}: its {octets} bytes are no packet of a link, since the network card of the host joins or "
            "divides them; capture with ethtool -K DEV tso off gso off gro off, or on the link"
        )
    headers = head + (offset[0] >> 4) * 4
    rest = octets - headers
    while rest > 0:
        data_octets = min(rest, DIVIDED - headers)
        yield headers + data_octets
        rest -= data_octets


Captured = tuple[int, Interface, bytes, int]
"""Time, interface, captured octets and original length of a packet."""


def _pcap(file: BinaryIO, order: str, digits: int) -> Iterator[Captured]:
    header = _exactly(file, 20, "the header of the file")
    interface = Interface(struct.unpack(f"{order}16xI", header)[0] & 0xFFFF, digits)
    record = struct.Struct(f"{order}IIII")
    number = 1
    while head := file.read(record.size):
        if len(head) < record.size:
            raise CaptureError(f"packet {number}: cut short, {record.size - len(head)} bytes are missing")
        seconds, fraction, kept, length = record.unpack(head)
        if fraction >= 10**digits:
            raise CaptureError(f"packet {number}: damaged, its fraction of a second is a second or more")
        data = _exactly(file, _checked(kept, number), f"packet {number}")
        yield seconds * 10**digits + fraction, interface, data, length
        number += 1


def _pcapng(file: BinaryIO) -> Iterator[Captured]:
    file.seek(0)
    interfaces: list[Interface] = []
    order, number = "<", 1
    while head := file.read(8):
        where = f"packet {number}"
        if len(head) < 8:
            raise CaptureError(f"{where}: cut short, {8 - len(head)} bytes are missing")
        if head[:4] == PCAPNG:
            order = _order(file)
            interfaces = []
        kind, body = _block(file, head, order, number)
        if kind == INTERFACE:
            interfaces.append(_interface(body, order, where))
        elif kind == SIMPLE:
            raise CaptureError(f"{where}: has no time; capture with times")
        elif kind == PACKET:
            yield _packet(body, order, interfaces, where)
            number += 1


def _block(file: BinaryIO, head: bytes, order: str, number: int) -> tuple[int, bytes]:
    """Read the rest of a block; return its kind and its body."""
    kind, size = struct.unpack(f"{order}II", head)
    where = f"packet {number}"
    if size < 12 or size % 4:
        raise CaptureError(f"{where}: damaged, a block of {size} bytes cannot be")
    rest = _exactly(file, _checked(size, number) - 8, where)
    if struct.unpack(f"{order}I", rest[-4:])[0] != size:
        raise CaptureError(f"{where}: damaged, its block has two lengths")
    return kind, rest[:-4]


def _packet(body: bytes, order: str, interfaces: Sequence[Interface], where: str) -> Captured:
    """Parse the body of an enhanced packet block."""
    if len(body) < 20:
        raise CaptureError(f"{where}: damaged, its block has {len(body)} bytes of at least 20")
    index, high, low, kept, length = struct.unpack_from(f"{order}IIIII", body)
    if kept > len(body) - 20:
        raise CaptureError(f"{where}: damaged, {kept} captured bytes are more than its block has")
    if index >= len(interfaces):
        raise CaptureError(f"{where}: damaged, its interface {index} is not described")
    return high << 32 | low, interfaces[index], body[20 : 20 + kept], length


def _order(file: BinaryIO) -> str:
    """Read ahead which octet of a number comes first in a section."""
    magic = file.read(4)
    file.seek(-len(magic), 1)
    if magic not in (LITTLE_ENDIAN, BIG_ENDIAN):
        raise CaptureError("must be a capture in the format pcap or pcapng")
    return "<" if magic == LITTLE_ENDIAN else ">"


def _interface(body: bytes, order: str, where: str) -> Interface:
    if len(body) < 8:
        raise CaptureError(f"{where}: damaged, an interface is described in {len(body)} bytes of at least 8")
    link, digits, at = struct.unpack_from(f"{order}H", body)[0], 6, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        if code == 0:
            break
        if at + 4 + length > len(body):
            raise CaptureError(f"{where}: damaged, an option of an interface is longer than its block")
        if code == RESOLUTION:
            if length != 1:
                raise CaptureError(f"{where}: damaged, the unit of times must have 1 byte, not {length}")
            digits = body[at + 4]
        at += 4 + (length + 3) // 4 * 4
    if digits > 12:
        raise CaptureError("its times are not in decimal units down to picoseconds")
    return Interface(link, digits)


def _ip_octets(link: int, data: bytes, length: int, number: int) -> int:
    """Return the octets of the IP packet in a frame; 0 if there is none."""
    if link not in LINKS:
        known = ", ".join(map(str, sorted(LINKS)))
        raise CaptureError(f"packet {number}: link type {link} is not known; known are {known}")
    begin = LINKS[link](data, 0)
    if begin is None:
        return 0
    version = data[begin] >> 4 if len(data) > begin else 0
    if version == 4 and len(data) >= begin + 4:
        return int.from_bytes(data[begin + 2 : begin + 4]) or length - begin
    if version == 6 and len(data) >= begin + 6:
        return int.from_bytes(data[begin + 4 : begin + 6]) + 40
    return 0


def _exactly(file: BinaryIO, size: int, what: str) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise CaptureError(f"{what}: cut short, {size - len(data)} bytes are missing")
    return data


def _checked(size: int, number: int) -> int:
    if size > MOST_OCTETS:
        raise CaptureError(f"packet {number}: damaged, it cannot have {size} bytes")
    return size
