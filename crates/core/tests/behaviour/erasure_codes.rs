//! A block is decoded exactly when a real code can decode it: the bytes of random packets through Reed–Solomon and
//! exclusive-or, with random erasures, compared with the bookkeeping of the transport `fec`.

use pushout_core::adaptation::coded::Code;
use pushout_core::rng::Stream;
use pushout_core::transport::fec::{Decoder, Label};
use reed_solomon_erasure::galois_8::ReedSolomon;

const BYTES: usize = 24;

fn packets(stream: &mut Stream, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| (0..BYTES).map(|_| stream.next_u32() as u8).collect()).collect()
}

/// Return how many data packets are available after these packets of one block have arrived.
fn there(code: Code, arrived: &[bool]) -> (u64, bool) {
    let mut decoder = Decoder::new(code);
    let labels = (0..).zip(arrived).filter(|(_, arrived)| **arrived);
    let brought: u64 = labels.map(|(index, _)| u64::from(decoder.receive(Label { block: 0, index }))).sum();
    decoder.close(1);
    let books = decoder.books();
    assert_eq!(books.received + books.recovered, brought, "what was announced is what is there");
    (brought, books.blocks_whole == 1)
}

#[test]
fn a_block_is_decoded_exactly_when_reed_solomon_can_decode_it() {
    let mut stream = Stream::new(4, "reed-solomon");
    let mut decoded = [0, 0];
    for _ in 0..2000 {
        let (data, parity) = (1 + stream.up_to(11) as usize, 1 + stream.up_to(4) as usize);
        let real = ReedSolomon::new(data, parity).unwrap();
        let mut block = packets(&mut stream, data);
        block.extend(vec![vec![0; BYTES]; parity]);
        real.encode(&mut block).unwrap();
        let loss = stream.unit() * 0.6;
        let arrived: Vec<bool> = block.iter().map(|_| !stream.chance(loss)).collect();
        let mut shards: Vec<Option<Vec<u8>>> =
            block.iter().zip(&arrived).map(|(packet, arrived)| arrived.then(|| packet.clone())).collect();
        let possible = real.reconstruct_data(&mut shards).is_ok();
        let right =
            shards.iter().zip(&block).take(data).filter(|(got, sent)| got.as_ref() == Some(sent)).count();
        let code = Code { data: data as u16, parity: parity as u16 };
        assert_eq!(there(code, &arrived), (right as u64, possible), "K = {data}, h = {parity}, {arrived:?}");
        decoded[usize::from(possible)] += 1;
    }
    assert!(decoded.iter().all(|count| *count > 200), "both happen: {decoded:?}");
}

#[test]
fn one_parity_packet_is_the_bitwise_sum_of_the_data() {
    // Section 3 of the paper: c_{K+1,i} = (Σ_j c_{j,i}) mod 2
    let mut stream = Stream::new(5, "exclusive-or");
    let sum = |packets: &[&Vec<u8>]| -> Vec<u8> {
        (0..BYTES).map(|i| packets.iter().fold(0, |sum, packet| sum ^ packet[i])).collect()
    };
    for _ in 0..500 {
        let data = 1 + stream.up_to(14) as usize;
        let mut block = packets(&mut stream, data);
        block.push(sum(&block.iter().collect::<Vec<_>>()));
        let code = Code { data: data as u16, parity: 1 };
        let lost = stream.up_to(data as u64) as usize;
        let others: Vec<&Vec<u8>> =
            block.iter().enumerate().filter(|(i, _)| *i != lost).map(|(_, p)| p).collect();
        assert_eq!(sum(&others), block[lost], "any one packet is the sum of all others");
        let mut arrived = vec![true; data + 1];
        arrived[lost] = false;
        assert_eq!(there(code, &arrived), (data as u64, true));
        let second = (lost + 1) % (data + 1);
        arrived[second] = false;
        let data_lost = [lost, second].iter().filter(|index| **index < data).count();
        assert_eq!(there(code, &arrived), ((data - data_lost) as u64, false), "two are too many");
    }
}
