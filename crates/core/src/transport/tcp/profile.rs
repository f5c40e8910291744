//! Profiles: kinds of hosts, as defaults of keys.

use crate::choice;
use crate::language::merge::merge;
use crate::language::tree::{Node, Value};
use crate::transport::tcp::congestion::Spec;

choice! {
    /// Hosts of a kind.
    pub enum Profile {
        /// 4.4BSD of 1993: its timers, its back-off table and its initial window; used by studies 000 to 004.
        Bsd1993 = "bsd-1993",
        /// Linux with its defaults, for servers and clients on the Internet: CUBIC, SACK with RACK, ten segments to begin with,
        /// timestamps.
        Linux = "linux",
        /// Linux as in a data centre: DCTCP with marks on all packets, SACK with RACK, a least timeout of 10 ms.
        Datacenter = "datacenter",
    }
}

impl Profile {
    /// Return the keys that the profile sets, with their values.
    fn keys(self) -> Vec<(&'static str, Value)> {
        match self {
            Profile::Bsd1993 => vec![
                ("initial_rto", "6 s".into()),
                ("backoff", "bsd".into()),
                ("initial_estimate", "bsd".into()),
            ],
            Profile::Linux => vec![
                ("laws", "linux".into()),
                ("kernel_tick", "4 ms".into()),
                ("congestion", "cubic".into()),
                ("cubic_law", "linux".into()),
                ("sack", true.into()),
                ("recovery", "rack".into()),
                ("window", "6 MiB".into()),
                ("timestamps", true.into()),
                ("byte_counting", true.into()),
                ("initial_window", Value::Integer(10)),
                ("slow_timer", "1 ms".into()),
                ("fast_timer", "40 ms".into()),
                ("min_rto", "200 ms".into()),
                ("rto_floor", "variance".into()),
                ("sack_restarts_timer", true.into()),
                ("dsack", true.into()),
                ("max_rto", "120 s".into()),
                ("partial_ack", "slow-but-steady".into()),
            ],
            Profile::Datacenter => vec![
                ("laws", "linux".into()),
                ("kernel_tick", "1 ms".into()),
                ("congestion", "dctcp".into()),
                ("sack", true.into()),
                ("recovery", "rack".into()),
                ("ecn", true.into()),
                ("ect", "all".into()),
                ("window", "4 MiB".into()),
                ("byte_counting", true.into()),
                ("initial_window", Value::Integer(10)),
                ("slow_timer", "1 ms".into()),
                ("fast_timer", "1 ms".into()),
                ("min_rto", "10 ms".into()),
                ("rto_floor", "variance".into()),
                ("sack_restarts_timer", true.into()),
                ("dsack", true.into()),
                ("initial_rto", "10 ms".into()),
                ("partial_ack", "slow-but-steady".into()),
            ],
        }
    }
}

/// Return the table of a transport, completed with the keys that its profile sets. A congestion control that measures its path has
/// the profile of Linux, if no other is given, and sets what it needs.
pub fn with_profile(transport: &Node) -> Node {
    if transport.get("kind").and_then(Node::text) != Some("tcp") {
        return transport.clone();
    }
    let control =
        transport.get("congestion").and_then(|node| Some((node, Spec::from_word(node.text()?).ok()?)));
    let control = control.filter(|(_, control)| control.measuring().is_some());
    let found = match (transport.get("profile"), control) {
        (Some(node), _) => {
            node.text().and_then(|word| Profile::from_word(word).ok()).map(|profile| (node, profile))
        }
        (None, Some((node, _))) => Some((node, Profile::Linux)),
        (None, None) => None,
    };
    let Some((node, profile)) = found else { return transport.clone() };
    let keys = [("kind", "tcp".into())].into_iter().chain(profile.keys());
    let filled = merge(
        &Node::table(keys, node.place),
        &Node::table(keys_of(control.map(|(_, control)| control)), node.place),
    );
    merge(&filled, transport)
}

/// Return the keys that a congestion control sets after a profile.
fn keys_of(control: Option<Spec>) -> Vec<(&'static str, Value)> {
    let counts = control == Some(Spec::Prague);
    let measuring = [("sack", true.into()), ("recovery", "rack".into()), ("ecn", counts.into())];
    let counting = [("l4s", true.into()), ("feedback", "accecn".into())];
    let measuring = measuring.into_iter().filter(|_| control.is_some());
    measuring.chain(counting.into_iter().filter(|_| counts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};
    use crate::language::spec::read_section;
    use crate::transport::tcp::{Backoff, EctPackets, Feedback, Params};
    use crate::units::{Bytes, Span};

    /// Return the parameters of this table.
    fn params(text: &str) -> Params {
        let Node { value: Value::Table(mut keys), place } =
            with_profile(&read(&format!("kind = \"tcp\"\n{text}"), Format::Toml).unwrap())
        else {
            panic!("a table")
        };
        keys.retain(|(key, _)| key.name != "kind");
        read_section(&Node { value: Value::Table(keys), place }, "transport").unwrap()
    }

    #[test]
    fn every_profile_is_a_set_of_keys_that_pass_the_check() {
        for (word, _) in Profile::WORDS {
            let params = params(&format!("profile = \"{word}\""));
            assert_eq!(crate::transport::Transport::check(&params), Ok(()), "{word}");
        }
    }

    #[test]
    fn a_profile_sets_defaults_and_a_key_that_is_given_counts_before_it() {
        let linux = params("profile = \"linux\"\ninitial_window = 4");
        assert_eq!((linux.congestion, linux.initial_window), (Spec::Cubic.into(), 4));
        assert_eq!((linux.min_rto, linux.window), (Span::millis(200), Bytes(6 << 20)));
        let datacenter = params("profile = \"datacenter\"\nmin_rto = \"5 ms\"");
        assert_eq!((datacenter.congestion, datacenter.ecn), (Spec::Dctcp.into(), true));
        assert_eq!((datacenter.ect, datacenter.min_rto), (EctPackets::All, Span::millis(5)));
        let bsd = params("profile = \"bsd-1993\"");
        assert_eq!((bsd.backoff, bsd.initial_rto), (Backoff::Bsd, Span::secs(6)));
        assert_eq!(params("").congestion, Spec::Reno);
    }

    #[test]
    fn a_control_that_measures_has_what_it_needs_and_the_profile_of_linux_unless_another_is_given() {
        let bbr = params("congestion = \"bbr\"");
        assert_eq!((bbr.sack, bbr.ecn, bbr.window), (true, false, Bytes(6 << 20)));
        let prague = params("congestion = \"prague\"\nprofile = \"datacenter\"");
        assert_eq!((prague.sack, prague.ecn, prague.l4s, prague.window), (true, true, true, Bytes(4 << 20)));
        assert_eq!((prague.congestion, prague.feedback), (Spec::Prague.into(), Feedback::Accecn));
        let old = params("congestion = \"bbr\"\nprofile = \"bsd-1993\"");
        assert_eq!((old.sack, old.initial_rto), (true, Span::secs(6)));
        for keys in [
            "congestion = \"bbr\"",
            "congestion = \"prague\"",
            "congestion = \"bbr\"\nprofile = \"datacenter\"",
        ] {
            assert_eq!(crate::transport::Transport::check(&params(keys)), Ok(()), "{keys}");
        }
        assert_eq!((params("").sack, params("congestion = \"cubic\"").sack), (false, false));
    }
}
