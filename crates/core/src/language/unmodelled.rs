//! Names from the literature that are not modelled yet: the message about one says so. A name is removed from the
//! list when it is added to a registry, which a test checks.

/// The kinds of names, and the known names of which nothing is modelled. The page lists the same names, which
/// `tests/test_missing.py` compares.
const UNMODELLED: [(&[&str], &[&str]); 7] = [
    (
        &["admission", "policy", "policy of a port"],
        &["afd", "blue", "cake", "cobalt", "credence", "fab", "rem", "sfb"],
    ),
    (&["scheduler"], &["cake", "edf", "hfsc", "htb", "qfq", "scfq", "sfq", "wf2q", "wfq"]),
    // of the key `congestion`
    (
        &["value"],
        &[
            "bbr", "bic", "compound", "dcqcn", "decbit", "hybla", "illinois", "prague", "swift", "timely",
            "vegas", "westwood",
        ],
    ),
    (&["source"], &["http", "voip"]),
    (&["transport"], &["dccp", "homa", "iwarp", "mptcp", "ndp", "quic", "rdma", "roce", "rtp", "sctp"]),
    (&["topology", "template"], &["ring", "torus"]),
    (&["key"], &["pacing"]),
];

/// The page that says what is not modelled.
pub(crate) const PAGE: &str = "docs/limits.md";

/// Whether a name of this kind is known, but not modelled.
pub(super) fn is_unmodelled(what: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let is_of = |kinds: &[&str]| what == "name" || kinds.contains(&what); // a name may be of every kind
    UNMODELLED.iter().any(|(kinds, names)| is_of(kinds) && names.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::language::nearest::unknown;
    use crate::transport::tcp::congestion;

    #[test]
    fn a_known_name_is_told_from_a_misspelt_one() {
        let told = unknown("admission", "blue", &["ppd", "epd"]);
        assert_eq!(
            told,
            "unknown admission \"blue\": not modelled yet, see docs/limits.md (allowed: ppd, epd)"
        );
        assert!(unknown("policy", "CAKE", &["red"]).contains("not modelled yet"));
        assert!(unknown("name", "bbr", &["red"]).contains("not modelled yet"));
        assert!(!unknown("node", "blue", &["west"]).contains("not modelled"));
        assert!(!unknown("admission", "edp", &["epd"]).contains("not modelled"));
    }

    #[test]
    fn what_there_is_is_not_on_the_list() {
        let known = catalogue()
            .into_iter()
            .map(|entry| entry.name)
            .chain(congestion::Spec::WORDS.iter().map(|(word, _)| *word));
        let known: Vec<&str> = known.collect();
        for (_, names) in UNMODELLED {
            assert!(
                names.iter().all(|name| !known.contains(name)),
                "{names:?} has something that is modelled by now"
            );
            assert!(names.is_sorted());
        }
    }
}
