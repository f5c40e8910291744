//! Real clients over pushout-net, in virtual time: a transfer over QUIC ([`quic`], quinn-proto) and one over TCP ([`tcp`], smoltcp), each
//! in a file that can be copied, and a picture of the queue ([`picture`]). The tests use them as tests of a stack would.

pub mod picture;
pub mod quic;
pub mod tcp;
