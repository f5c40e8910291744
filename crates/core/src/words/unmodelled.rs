//! Names from the literature that are not modelled: the message about such a name says so and refers to the page of
//! limits. A test checks that this page lists each name; another test fails if a name is in this list and in a
//! registry.

use super::aliases::plain;

/// Kinds of names, and for each the names that Pushout does not model, in the form that [`plain`] returns.
const UNMODELLED: [(&[&str], &[&str]); 7] = [
    (
        &["admission", "pushout", "policy", POLICY_OF_A_PORT, VALUE],
        &[
            "afd", "avq", "blue", "cake", "choke", "cobalt", "credence", "fab", "fqcobalt", "gred", "hfsc",
            "hhf", "htb", "hull", "qfq", "rem", "reverie", "sfb", "sfq",
        ],
    ),
    (&["scheduler", POLICY_OF_A_PORT, VALUE], &["edf", "hfsc", "htb", "qfq", "scfq", "sfq", "wf2q", "wfq"]),
    (
        &["congestion", "policy", POLICY_OF_A_PORT, "transport", VALUE],
        &[
            "bbr2", "bic", "compound", "dcqcn", "decbit", "hpcc", "htcp", "hybla", "illinois", "ledbat",
            "powertcp", "scalable", "swift", "timely", "vegas", "veno", "westwood",
        ],
    ),
    (&["source"], &["http", "pareto", "trace", "voip", "websearch"]),
    (
        &["transport", "adaptation", VALUE],
        &[
            "dccp",
            "homa",
            "ib",
            "infiniband",
            "iwarp",
            "mptcp",
            "ndp",
            "quic",
            "rdma",
            "roce",
            "rocev2",
            "rtp",
            "sctp",
        ],
    ),
    (&["credit", POLICY_OF_A_PORT], &["cxl", "ib", "infiniband"]),
    (&["topology", "template"], &["clos", "ring", "torus"]),
];

/// The kind of a name that `compare` and `sweep` set at a port: an admission policy, a scheduler, a discipline and
/// others.
const POLICY_OF_A_PORT: &str = "policy of a port";

/// The kind of a name that is the value of a key such as `congestion` or `discipline`.
const VALUE: &str = "value";

/// Path of the page about everything that is not modelled.
pub(crate) const PAGE: &str = "docs/limits.md";

/// Return whether this is a name from the literature that Pushout does not model.
pub(super) fn is_unmodelled(what: &str, name: &str) -> bool {
    let name = plain(name);
    let is_of = |kinds: &[&str]| what == "name" || kinds.contains(&what); // a name may be of every kind
    UNMODELLED.iter().any(|(kinds, names)| is_of(kinds) && names.contains(&name.as_str()))
}

/// Return whether names of this kind are words of the language, which users do not choose.
pub(super) fn is_vocabulary(what: &str) -> bool {
    matches!(what, "name" | "discipline") || UNMODELLED.iter().any(|(kinds, _)| kinds.contains(&what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::transport::tcp::congestion;
    use crate::words::nearest::unknown;

    #[test]
    fn a_known_name_is_distinguished_from_a_misspelt_one() {
        let told = unknown("admission", "blue", &["ppd", "epd"]);
        assert_eq!(
            told,
            "unknown admission \"blue\": not modelled yet, see docs/limits.md (allowed: ppd, epd)"
        );
        for (what, name) in [("policy", "CAKE"), ("name", "bbr2"), ("policy", "ns3::CobaltQueueDisc")] {
            assert!(unknown(what, name, &["red"]).contains("not modelled"), "{what} {name}");
        }
        assert!(!unknown("node", "blue", &["west"]).contains("not modelled"));
        assert!(!unknown("admission", "edp", &["epd"]).contains("not modelled"));
    }

    #[test]
    fn names_of_the_literature_lead_to_the_limits_wherever_they_are_tried() {
        let congestion: Vec<&str> = congestion::Spec::WORDS.iter().map(|(word, _)| *word).collect();
        for name in ["dcqcn", "hpcc", "swift", "bbr2", "credence", "reverie", "choke", "cake", "ib"] {
            for (what, allowed) in [(VALUE, &congestion[..]), (POLICY_OF_A_PORT, &["tail-drop", "fba"])] {
                let told = unknown(what, name, allowed);
                assert!(told.contains(": not modelled yet, see docs/limits.md"), "{told}");
            }
        }
    }

    #[test]
    fn what_there_is_is_not_on_the_list() {
        let known: Vec<String> = catalogue()
            .into_iter()
            .map(|entry| entry.name)
            .chain(congestion::Spec::WORDS.iter().map(|(word, _)| *word))
            .map(plain)
            .collect();
        for (_, names) in UNMODELLED {
            assert!(
                names.iter().all(|name| !known.iter().any(|known| known == name)),
                "{names:?} has something that is modelled by now"
            );
            assert!(names.is_sorted());
        }
    }

    #[test]
    fn the_page_of_limits_lists_every_name() {
        let page =
            include_str!("../../../../docs/limits.md").to_lowercase().replace('-', "").replace('²', "2");
        for (_, names) in UNMODELLED {
            for name in names {
                let is_listed = page.match_indices(name).any(|(place, _)| is_word(&page, place, name.len()));
                assert!(is_listed, "{PAGE} does not mention {name}");
            }
        }
    }

    fn is_word(page: &str, place: usize, length: usize) -> bool {
        let is_part = |c: char| c.is_alphanumeric();
        !page[..place].ends_with(is_part) && !page[place + length..].starts_with(is_part)
    }
}
