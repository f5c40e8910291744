//! The hash by which a node chooses among equal lines, as switches let it be configured.
//!
//! *Source*: the hash of switches (fields, algorithm and seed, as in SAI `saihash.h` and `SAI_SWITCH_ATTR_ECMP_DEFAULT_HASH_SEED`). Nodes
//! with the same fields, function and seed compute the same number for a flow: of what one of them sends to the next, that one uses
//! only some of its lines (polarisation). With `mix` another seed gives an independent number. CRC-32 is linear: another seed
//! changes the numbers of all flows by the same bits, so that the choices of two nodes stay tied.

use crate::rng::{mix, path_key};
use crate::{choice, section};

choice! {
    /// What a hash is computed of.
    pub enum HashField {
        /// The host that sends.
        From = "from",
        /// The host that receives.
        To = "to",
        /// The ports of the flow, which the simulator draws for each.
        Port = "port",
    }
}

choice! {
    /// How a hash is computed.
    pub enum HashFunction {
        /// Every bit of seed and fields changes every bit of the number with probability one half.
        Mix = "mix",
        /// The cyclic redundancy check of Ethernet.
        Crc32 = "crc32",
    }
}

section! {
    /// The hash of a node.
    pub struct Hash {
        /// Its seed: nodes with one seed choose alike.
        pub seed: u64 = 0,
        /// What it is computed of.
        pub fields: Vec<HashField> = vec![HashField::From, HashField::To, HashField::Port],
        /// How it is computed.
        pub function: HashFunction = HashFunction::Mix,
    }
}

/// A flow as hashes see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashedFlow<'a> {
    /// Key of the flow, by its name and its ends.
    pub(super) key: u64,
    /// The names of its ends.
    pub(super) ends: [&'a str; 2],
}

impl Hash {
    /// Return the number of a flow: 64 bits, of which the highest choose the line.
    pub(super) fn number(&self, flow: &HashedFlow<'_>) -> u64 {
        let has = |field: HashField| self.fields.contains(&field);
        let end = |field, name: &str| if has(field) { path_key(0, format_args!("end.{name}")) } else { 0 };
        let port = if has(HashField::Port) { flow.key } else { 0 };
        let [from, to] = flow.ends;
        let fields = [end(HashField::From, from), end(HashField::To, to), port];
        match self.function {
            HashFunction::Mix => fields.iter().fold(mix(self.seed ^ SALT), |hash, field| mix(hash ^ field)),
            HashFunction::Crc32 => {
                let octets = [self.seed].into_iter().chain(fields).flat_map(u64::to_le_bytes);
                u64::from(crc32(octets)) << 32
            }
        }
    }
}

/// A number that no other use of `mix` has, so that a seed of 0 is as good as others.
const SALT: u64 = 0x5a17_ec3b_0d49_f6c1;

/// Return the cyclic redundancy check of octets: the polynomial of IEEE 802.3, lowest bit first.
fn crc32(octets: impl Iterator<Item = u8>) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !octets.fold(!0, |crc, octet| (0..8).fold(crc ^ u32::from(octet), step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use crate::scenario::model::Scenario;
    use std::collections::BTreeMap;
    use std::fmt::Write;

    #[test]
    fn the_check_of_the_nine_digits_is_that_of_the_standard() {
        assert_eq!(crc32("123456789".bytes()), 0xcbf4_3926);
    }

    /// 400 flows over two tiers, of which the first and the second have these hashes.
    fn tiers(hashes: [&str; 2], flows: &str) -> BTreeMap<String, usize> {
        let mut text = String::from(
            "name = 'tiers'\nduration = '1 ms'\nadaptation = { kind = 'packet' }\nrouting = 'ecmp'\n\
             flows = { source = { kind = 'cbr', rate = '10 Mb/s' }, transport = { kind = 'udp' } }\n",
        );
        for (node, hash) in [("leaf", hashes[0]), ("s1", hashes[1]), ("s2", hashes[1])] {
            writeln!(text, "[[node]]\nname = '{node}'\nkind = 'router'\n{hash}").unwrap();
        }
        for (node, kind) in [
            ("a", "host"),
            ("b", "host"),
            ("c1", "router"),
            ("c2", "router"),
            ("c3", "router"),
            ("c4", "router"),
            ("end", "router"),
        ] {
            writeln!(text, "[[node]]\nname = '{node}'\nkind = '{kind}'").unwrap();
        }
        for link in [
            "a leaf", "leaf s1", "leaf s2", "s1 c1", "s1 c2", "s2 c3", "s2 c4", "c1 end", "c2 end", "c3 end",
            "c4 end", "end b",
        ] {
            let (from, to) = link.split_once(' ').unwrap();
            writeln!(text, "[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '10 Gb/s'\ndelay = '1 us'")
                .unwrap();
        }
        text += flows;
        let scenario = load(&text, "x.toml", &[]).unwrap_or_else(|why| panic!("{why}\n{text}"));
        used(&scenario)
    }

    /// Return how many flows use each of the four last lines.
    fn used(scenario: &Scenario) -> BTreeMap<String, usize> {
        let mut used = BTreeMap::new();
        for flow in &scenario.flows {
            let path = &scenario.vcs[flow.vc].path;
            *used.entry(scenario.lines[path[3]].name.clone()).or_insert(0) += 1;
        }
        used
    }

    fn four_hundred() -> String {
        (0..400).map(|flow| format!("[[flow]]\nname = 'f{flow}'\nfrom = 'a'\nto = 'b'\n")).collect()
    }

    #[test]
    fn with_one_seed_two_of_four_lines_are_used_and_with_two_seeds_all_four() {
        let flows = four_hundred();
        let lines = |hashes| tiers(hashes, &flows);
        assert_eq!(lines(["hash = { seed = 7 }", "hash = { seed = 7 }"]).len(), 2);
        for hashes in [["hash = { seed = 7 }", "hash = { seed = 8 }"], ["hash = {}", ""], ["", ""]] {
            let used = lines(hashes);
            assert!(
                used.len() == 4 && used.values().all(|count| (70..=130).contains(count)),
                "{hashes:?}: {used:?}"
            );
        }
        let crc = |seed| format!("hash = {{ seed = {seed}, function = 'crc32' }}");
        for seed in [7, 8, 99] {
            let hashes = [crc(7), crc(seed)];
            assert_eq!(
                tiers([&hashes[0], &hashes[1]], &flows).len(),
                2,
                "another seed of a linear function keeps the choices tied"
            );
        }
    }

    #[test]
    fn without_ports_the_flows_between_two_hosts_take_one_line() {
        let used = tiers(
            ["hash = { fields = ['from', 'to'] }", "hash = { seed = 1, fields = ['from', 'to'] }"],
            &four_hundred(),
        );
        assert_eq!(used.into_values().collect::<Vec<_>>(), [400]);
    }

    #[test]
    fn connections_of_one_entry_spread_like_as_many_entries_where_routes_are_equal() {
        let one = "[[flow]]\nname = 'f'\nfrom = 'a'\nto = 'b'\nconnections = 400\n";
        let used = tiers(["", ""], one);
        assert!(used.len() == 4 && used.values().all(|count| (70..=130).contains(count)), "{used:?}");
        let together = tiers(["", ""], &format!("{one}pvc = 'all'\n"));
        assert_eq!(
            together.into_values().collect::<Vec<_>>(),
            [400],
            "they share the circuit that the entry names"
        );
    }

    #[test]
    fn without_equal_routes_connections_share_a_circuit() {
        let text = include_str!("../../../../scenarios/w1-packet.toml");
        let sets = ["routing=ecmp", "flow.flow1.connections=3"].map(String::from);
        let scenario = load(text, "x.toml", &sets).unwrap();
        let circuits: Vec<&str> =
            scenario.vcs.iter().map(|vc| vc.name.as_str()).filter(|name| name.starts_with("flow1")).collect();
        assert!(circuits.iter().all(|name| !name.starts_with("flow1.1")), "{circuits:?}");
    }

    #[test]
    fn a_hash_without_ecmp_is_refused() {
        let text = include_str!("../../../../scenarios/w1-packet.toml");
        let more = format!("{text}\n[[node]]\nname = \"x\"\nkind = \"router\"\nhash = {{ seed = 3 }}\n");
        let why = load(&more, "x.toml", &[]).unwrap_err().message;
        assert!(why.contains("must stand beside routing = \"ecmp\""), "{why}");
    }
}
