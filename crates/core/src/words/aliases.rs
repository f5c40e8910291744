//! Names of other programs (tc, ns-2, ns-3, SONiC) for entries that have another name here.

/// A name of another program in the form that [`plain`] returns, the kind of the entry, and the name of the entry
/// here.
type Alias = (&'static str, &'static str, &'static str);

const ALIASES: [Alias; 57] = [
    ("alpha", "admission", "dynamic-threshold"),
    ("bbr", "congestion", "bbr"),
    ("bbr3", "congestion", "bbr"),
    ("bfifo", "admission", "tail-drop"),
    ("bulk", "source", "greedy"),
    ("bulksend", "source", "greedy"),
    ("cbs", "key", "queue.NAME.cbs"),
    ("codel", "admission", "codel"),
    ("cubic", "congestion", "cubic"),
    ("dctcp", "congestion", "dctcp"),
    ("droptail", "admission", "tail-drop"),
    ("drr", "scheduler", "drr"),
    ("dt", "admission", "dynamic-threshold"),
    ("dualpi2", "discipline", "dualpi2"),
    ("dwrr", "scheduler", "drr"),
    ("etf", "key", "pacing"),
    ("ets", "scheduler", "strict-priority"),
    ("fifo", "admission", "tail-drop"),
    ("fq", "key", "pacing"),
    ("fqcodel", "discipline", "fq-codel"),
    ("fqpie", "discipline", "fq-pie"),
    ("ftp", "source", "greedy"),
    ("gates", "key", "gates"),
    ("greedytcp", "source", "greedy"),
    ("iperf", "source", "greedy"),
    ("iperf3", "source", "greedy"),
    ("linear", "template", "parking-lot"),
    ("lqd", "pushout", "longest-queue"),
    ("mqprio", "scheduler", "strict-priority"),
    ("multiq", "scheduler", "strict-priority"),
    ("netem", "table", "[[loss]]"),
    ("newreno", "congestion", "new-reno"),
    ("pfifo", "admission", "tail-drop"),
    ("pfifofast", "scheduler", "strict-priority"),
    ("pi2", "admission", "pi2"),
    ("pie", "admission", "pie"),
    ("pointtopointdumbbell", "template", "dumbbell"),
    ("policer", "key", "police"),
    ("prague", "congestion", "prague"),
    ("prio", "scheduler", "strict-priority"),
    ("priority", "scheduler", "strict-priority"),
    ("red", "admission", "red"),
    ("reno", "congestion", "reno"),
    ("singleswitch", "template", "dumbbell"),
    ("socketfactory", "transport", "tcp"),
    ("srtcm", "key", "police"),
    ("strict", "scheduler", "strict-priority"),
    ("tahoe", "congestion", "tahoe"),
    ("taildrop", "admission", "tail-drop"),
    ("taprio", "key", "gates"),
    ("tas", "key", "gates"),
    ("tbf", "key", "shaper"),
    ("tokenbucket", "key", "shaper"),
    ("tree", "template", "fat-tree"),
    ("trtcm", "key", "police"),
    ("wred", "admission", "red"),
    ("wrr", "scheduler", "wrr"),
];

/// Keys under the names that other programs and papers give them, each with the keys here; the first that a table has
/// is meant.
const KEYS: [(&str, &[&str]); 79] = [
    ("algorithm", &["congestion"]),
    ("aqm", &["admission", "discipline"]),
    ("bandwidth", &["rate"]),
    ("bandwith", &["rate"]),
    ("bitrate", &["rate"]),
    ("bw", &["rate"]),
    ("capacity", &["buffer", "size", "rate"]),
    ("cc", &["congestion"]),
    ("ceil", &["maximum"]),
    ("congestioncontrol", &["congestion"]),
    ("congestionctrl", &["congestion"]),
    ("datarate", &["rate"]),
    ("destination", &["to"]),
    ("dst", &["to"]),
    ("dynamicth", &["alpha"]),
    ("ecn", &["action"]),
    ("ecnthreshold", &["threshold"]),
    ("ets", &["scheduler"]),
    ("filesize", &["size"]),
    ("fq", &["pacing"]),
    ("hicredit", &["hi_credit"]),
    ("hosts", &["sources"]),
    ("htb", &["scheduler"]),
    ("idleslope", &["idle_slope"]),
    ("initcwnd", &["initial_window"]),
    ("initialcwnd", &["initial_window"]),
    ("iw", &["initial_window"]),
    ("lambda", &["rate"]),
    ("latency", &["delay"]),
    ("limit", &["buffer", "size"]),
    ("locredit", &["lo_credit"]),
    ("max", &["max_threshold"]),
    ("maxbytes", &["size"]),
    ("maxqueuesize", &["buffer"]),
    ("maxsegmentsize", &["mss"]),
    ("maxsize", &["buffer", "size"]),
    ("maxth", &["max_threshold"]),
    ("maxthresh", &["max_threshold"]),
    ("min", &["min_threshold"]),
    ("minth", &["min_threshold"]),
    ("minthresh", &["min_threshold"]),
    ("mqprio", &["scheduler"]),
    ("mtu", &["mss"]),
    ("nflows", &["sources"]),
    ("nleaf", &["sources"]),
    ("paced", &["pacing"]),
    ("pfc", &["pause"]),
    ("policy", &["admission", "kind"]),
    ("prio", &["scheduler"]),
    ("probability", &["max_p"]),
    ("prop", &["delay"]),
    ("qdisc", &["discipline", "admission"]),
    ("qlen", &["buffer"]),
    ("queue", &["buffer", "scheduler"]),
    ("queuelimit", &["buffer"]),
    ("queuesize", &["buffer"]),
    ("rcvbuf", &["window"]),
    ("replications", &["reps"]),
    ("rngrun", &["seed"]),
    ("rto", &["initial_rto", "min_rto"]),
    ("runs", &["reps"]),
    ("rwnd", &["window"]),
    ("seeds", &["reps"]),
    ("segmentsize", &["mss"]),
    ("senders", &["sources"]),
    ("sharedalpha", &["alpha"]),
    ("simtime", &["duration"]),
    ("simulationtime", &["duration"]),
    ("sockettype", &["congestion"]),
    ("speed", &["rate"]),
    ("src", &["from"]),
    ("stop", &["duration"]),
    ("stoptime", &["duration", "stop"]),
    ("taprio", &["gates"]),
    ("tas", &["gates"]),
    ("tbf", &["shaper"]),
    ("time", &["duration"]),
    ("type", &["kind", "policy", "admission"]),
    ("xoffthreshold", &["xoff"]),
];

/// Find the key of a table that has another name in other programs.
pub(crate) fn key_meaning(name: &str, allowed: &[&str]) -> Option<String> {
    if matches!(plain(name).as_str(), "paced" | "pacing") && !allowed.contains(&"pacing") {
        return Some(
            "only a sender with a window paces: it is a key of transport = { kind = \"tcp\" }".to_string(),
        );
    }
    if matches!(plain(name).as_str(), "loss" | "lossrate" | "reorder") && allowed.contains(&"repeat") {
        return Some(
            "a link loses or reorders packets by tables of their own, [[loss]] and [[reorder]]".to_string(),
        );
    }
    if plain(name) == "cbs" && allowed.contains(&"scheduler") {
        return Some("a credit-based shaper is of a class: write cbs in a section [queue.NAME]".to_string());
    }
    let here = key_here(name, allowed)?;
    let name = plain(name);
    let otherwise = OTHERWISE.iter().find(|(alias, _)| *alias == name).map_or("", |(_, how)| *how);
    Some(format!("it is called \"{here}\" here{otherwise}"))
}

/// Keys whose values differ from those of the keys here, in the form that [`plain`] returns, and how.
const OTHERWISE: [(&str, &str); 10] = [
    ("dynamicth", ", which is 2 to the power of it (3 is alpha = 8)"),
    ("ecn", ", as in action = \"mark\""),
    (
        "ets",
        ": strict priority and below it a group with weights, each by class (group = { policy = \"drr\", queues = [\"bulk\"] })",
    ),
    ("htb", ": minimum and maximum rates are keys of classes, [queue.NAME], with queues = \"class\""),
    ("mqprio", ": strict priority by class is { policy = \"strict-priority\", queues = \"class\" }"),
    ("mtu", ", which leaves out the headers of IP and TCP (1500 is mss = 1460)"),
    ("prio", ": strict priority by class is { policy = \"strict-priority\", queues = \"class\" }"),
    ("taprio", ", a calendar of windows"),
    ("tas", ", a calendar of windows"),
    ("xoffthreshold", ", which is the headroom above the threshold"),
];

/// Return the value here of a key whose value differs, as an addition to a message; empty if it is no such value.
pub(crate) fn value_here(name: &str, value: &str) -> String {
    match (plain(name).as_str(), value.trim_matches('"').parse::<i32>()) {
        ("dynamicth", Ok(n)) if n.abs() <= 8 => format!(": write alpha = {}", 2f64.powi(n)),
        ("mtu", Ok(octets)) if octets > 40 => format!(": write mss = {}", octets - 40),
        _ => String::new(),
    }
}

/// Return the allowed key that other programs call by this name.
pub(crate) fn key_here(name: &str, allowed: &[&str]) -> Option<&'static str> {
    let name = plain(name);
    let (_, keys) = KEYS.iter().find(|(alias, _)| *alias == name)?;
    keys.iter().copied().find(|key| allowed.contains(key))
}

/// Return a name without separators and the additions of other programs, so that `fq_codel` and
/// `ns3::FqCoDelQueueDisc` are both `fqcodel`.
pub(super) fn plain(name: &str) -> String {
    let name: String = name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
    let name = name.to_lowercase();
    let name = name.strip_prefix("ns3::").unwrap_or(&name);
    let name = name.strip_prefix("tcp").filter(|rest| !rest.is_empty()).unwrap_or(name);
    ["queuedisc", "application"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_string()
}

/// Find the meaning of a name from another program: one of the allowed names, or an entry of another kind.
pub(super) fn meaning(name: &str, allowed: &[&str]) -> Option<String> {
    let plain_name = plain(name);
    if let Some(here) = allowed.iter().find(|here| plain(here) == plain_name) {
        let is_spelt_otherwise = !here.eq_ignore_ascii_case(name);
        return is_spelt_otherwise.then(|| format!("it is called \"{here}\" here"));
    }
    let (_, kind, here) = alias(name)?;
    if *kind == "congestion" && allowed.contains(&"tcp") {
        return Some(of_tcp(here));
    }
    Some(match allowed.contains(here) {
        true => format!("it is called \"{here}\" here"),
        false => format!("it is the {kind} \"{here}\" here"),
    })
}

/// Lead from a congestion control that stands for a transport to the transport that has it.
fn of_tcp(control: &str) -> String {
    let profile =
        if control == "dctcp" { ", or profile = \"datacenter\" for all that its hosts set" } else { "" };
    format!(
        "it is a congestion control of tcp here: write {{ kind = \"tcp\", congestion = \"{control}\" }}{profile}, in Python \
         Tcp(congestion=\"{control}\")"
    )
}

/// Return the allowed name that is meant by a name of another program.
pub(crate) fn here<'a>(name: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let plain_name = plain(name);
    let meant = alias(name).map(|(.., meant)| *meant);
    let named = |name: &str| allowed.iter().copied().find(|here| *here == name);
    allowed.iter().copied().find(|here| plain(here) == plain_name).or_else(|| named(meant?))
}

/// Find a name of another program.
fn alias(name: &str) -> Option<&'static Alias> {
    let plain_name = plain(name);
    ALIASES.iter().find(|(alias, ..)| *alias == plain_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::words::nearest::unknown;

    #[test]
    fn the_name_of_another_program_leads_to_the_name_here() {
        let disciplines = ["fq-codel", "fq-pie", "dualpi2"];
        for name in ["fq_codel", "ns3::FqCoDelQueueDisc"] {
            let message = unknown("value", name, &disciplines);
            assert!(message.contains(": it is called \"fq-codel\" here"), "{message}");
        }
        let message = unknown("value", "FQ-PIE", &disciplines);
        assert!(message.contains("did you mean \"fq-pie\"?"), "{message}");
        for (name, told) in [
            ("ns3::CoDelQueueDisc", "it is called \"codel\" here"),
            ("droptail", "it is called \"tail-drop\" here"),
            ("pfifo_fast", "it is the scheduler \"strict-priority\" here"),
            ("fq_codel", "it is the discipline \"fq-codel\" here"),
            ("tbf", "it is the key \"shaper\" here"),
            ("taprio", "it is the key \"gates\" here"),
            ("cbs", "it is the key \"queue.NAME.cbs\" here"),
        ] {
            let message = unknown("admission", name, &["tail-drop", "codel"]);
            assert_eq!(message, format!("unknown admission \"{name}\": {told} (allowed: tail-drop, codel)"));
        }
        for name in ["ns3::TcpNewReno", "TcpNewReno", "newreno"] {
            let message = unknown("value", name, &["reno", "new-reno"]);
            assert!(message.contains("it is called \"new-reno\" here"), "{message}");
        }
        let message = unknown("value", "codel", &disciplines);
        assert!(message.contains("it is the admission \"codel\" here"), "not fq-codel: {message}");
    }

    #[test]
    fn a_value_that_other_programs_write_otherwise_is_converted() {
        let message = unknown("key", "dynamic_th", &["policy", "alpha"]);
        assert!(
            message.contains("here, which is 2 to the power of it (3 is alpha = 8) (allowed"),
            "{message}"
        );
        assert_eq!(value_here("dynamic_th", "-2"), ": write alpha = 0.25");
        assert_eq!(value_here("dynamic_th", "\"3\""), ": write alpha = 8");
        assert_eq!(value_here("mtu", "1500"), ": write mss = 1460");
        assert_eq!((value_here("dynamic_th", "x"), value_here("alpha", "3")), Default::default());
    }

    #[test]
    fn a_congestion_control_in_the_place_of_a_transport_leads_to_tcp() {
        let transports = ["tcp", "udp", "cells", "fec"];
        let meant = |name| meaning(name, &transports).unwrap();
        assert!(
            meant("dctcp")
                .contains("{ kind = \"tcp\", congestion = \"dctcp\" }, or profile = \"datacenter\"")
        );
        assert!(
            meant("newreno").contains("congestion = \"new-reno\" }, in Python Tcp(congestion=\"new-reno\")")
        );
        for (control, _) in crate::transport::tcp::congestion::Spec::WORDS {
            let is_of_all_kinds = *control == "program";
            assert!(is_of_all_kinds || meaning(control, &transports).is_some(), "{control}");
        }
    }

    #[test]
    fn names_that_users_choose_have_no_meaning_in_other_programs() {
        assert!(!unknown("port", "prio", &["out"]).contains("scheduler"));
    }

    #[test]
    fn a_key_of_another_program_leads_to_the_key_here() {
        for (name, allowed, here) in [
            ("bandwidth", ["rate", "delay"], "rate"),
            ("cc", ["kind", "congestion"], "congestion"),
            ("queue_size", ["memory", "buffer"], "buffer"),
            ("queueSize", ["memory", "buffer"], "buffer"),
            ("limit", ["cell", "size"], "size"),
            ("max_th", ["max_p", "max_threshold"], "max_threshold"),
            ("rwnd", ["kind", "window"], "window"),
        ] {
            let message = unknown("key", name, &allowed);
            let told = format!("unknown key \"{name}\": it is called \"{here}\" here (allowed: ");
            assert!(message.starts_with(&told), "{message}");
        }
        assert!(!unknown("key", "bandwidth", &["delay"]).contains("here"), "the table has no such key");
        assert!(KEYS.is_sorted() && KEYS.iter().all(|(alias, _)| *alias == plain(alias)));
    }

    /// Return whether an entry is a key or a table, which no catalogue lists.
    fn is_written_elsewhere(kind: &str, here: &str) -> bool {
        match kind {
            "key" => ["gates", "pacing", "police", "queue.NAME.cbs", "shaper"].contains(&here),
            "table" => here == "[[loss]]",
            _ => false,
        }
    }

    #[test]
    fn disciplines_of_linux_as_keys_of_a_port_lead_to_what_they_are_here() {
        let port = ["buffer", "scheduler", "shaper", "gates", "police"];
        for (name, told) in [
            ("taprio", "it is called \"gates\" here, a calendar of windows"),
            ("ets", "it is called \"scheduler\" here: strict priority and below it a group with weights"),
            ("prio", "it is called \"scheduler\" here: strict priority by class"),
            ("cbs", "a credit-based shaper is of a class: write cbs in a section [queue.NAME]"),
            ("tbf", "it is called \"shaper\" here"),
        ] {
            let message = unknown("key", name, &port);
            assert!(message.starts_with(&format!("unknown key \"{name}\": {told}")), "{message}");
        }
        let message = unknown("key", "idleslope", &["idle_slope", "hi_credit"]);
        assert!(message.contains("it is called \"idle_slope\" here"), "{message}");
        assert_eq!(key_meaning("cbs", &["cir", "cbs_"]), None);
    }

    #[test]
    fn every_alias_leads_to_an_entry_of_its_kind() {
        let known = catalogue();
        for (alias, kind, here) in ALIASES {
            assert_eq!(alias, plain(alias));
            let is_entry = known.iter().any(|entry| entry.kind == kind && entry.name == here);
            assert!(is_entry || is_written_elsewhere(kind, here), "{alias} leads to no {kind} {here:?}");
        }
        assert!(ALIASES.is_sorted());
    }
}
