//! Scripts that drive one end by hand, in the manner of packetdrill: one behaviour, one file, exact instants.
//!
//! ```text
//! # What the script shows, and the section that asks for it.
//! sender                    the end under test, sender or receiver
//! set mss = 1000            a key of the transport; text needs no quotes
//! phase 100ms               first tick of its timer
//! 0ms    write 3000         what is done to it: open, write N [last], write forever, restart new, restart same, window N
//! 0ms    > 0:1000           what it sends: data; "again" for a retransmission, "last" before FIN; a longer range is several segments
//! 10ms   < ack 1000 x3      what arrives, three times: ack N [win N], synack, syn, data as above; [conn N] on each
//! 10ms   > ack 1000 win 0   what it sends: ack, synack, syn; windows and connections that are not said are not compared
//! 10ms   < ack 2000 sack 3000:4000    one of its blocks
//! 10ms   < ack 2000 ece     congestion notification: ect, ce, ece, cwr
//! 10ms   ? cwnd 2000        what it knows
//! 90ms   quiet              nothing more has left it by now
//! ```
//!
//! Timers expire by themselves, at an instant before anything that arrives at that instant. All that is sent must be
//! expected, at its exact time and in its order, up to the end of the script.

use std::collections::VecDeque;
use std::fmt::Debug;

use pushout_core::language::tree::Value;
use pushout_core::rng::Stream;
use pushout_core::transport::ecn::Ecn;
use pushout_core::transport::tcp::{Params, Receiver, SackBlocks, Segment, Sender};
use pushout_core::units::{Quantity, Span, Time};

enum End {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

struct Run {
    end: End,
    params: Params,
    now: Time,
    sent: VecDeque<(Time, Segment, SackBlocks)>,
}

impl Run {
    fn new(end: &str, params: Params, phase: Span) -> Result<Run, String> {
        let end = match end {
            "sender" => End::Sender(Box::new(Sender::new(&params, phase, Stream::new(1, "jitter")))),
            "receiver" => End::Receiver(Box::new(Receiver::new(&params, phase))),
            _ => return Err(format!("neither sender nor receiver: {end}")),
        };
        Ok(Run { end, params, now: Time::ZERO, sent: VecDeque::new() })
    }

    /// Let every timer up to `at` expire.
    fn advance(&mut self, at: Time) -> Result<(), String> {
        while let Some(timer) = self.next_timer().filter(|timer| *timer <= at) {
            if timer < self.now {
                return Err(format!("a timer at {timer:?} lies in the past"));
            }
            self.now = timer;
            let mut out = Vec::new();
            match &mut self.end {
                End::Sender(sender) => sender.on_timer(timer, &mut out),
                End::Receiver(receiver) => receiver.on_timer(timer, &mut out),
            }
            self.collect(out);
            if self.sent.len() > 1000 {
                return Err("a timer does not stop".to_string());
            }
        }
        self.now = at;
        Ok(())
    }

    fn next_timer(&self) -> Option<Time> {
        match &self.end {
            End::Sender(sender) => sender.next_timer(),
            End::Receiver(receiver) => receiver.next_timer(),
        }
    }

    fn collect(&mut self, out: Vec<Segment>) {
        for segment in out {
            let blocks = match &mut self.end {
                End::Receiver(receiver) if segment.len > 0 => receiver.blocks(&segment),
                _ => SackBlocks::default(),
            };
            let bare = match segment.is_ack {
                true => Segment { seq: 0, len: 0, repeats: 0, ..segment },
                false => Segment { repeats: segment.repeats.min(1), ..segment }, // scripts say only "again"
            };
            self.sent.push_back((self.now, bare, blocks));
        }
    }

    fn line(&mut self, words: &[&str]) -> Result<(), String> {
        let at = Time(span(words[0])?.0);
        if at < self.now {
            return Err("time goes back".to_string());
        }
        self.advance(at)?;
        match words[1] {
            ">" => self.expect(&words[2..]),
            "?" => words[2..].chunks(2).try_for_each(|pair| self.ask(pair[0], pair.get(1).copied())),
            "quiet" => self.quiet(),
            _ => {
                self.quiet()?;
                self.act(&words[1..])
            }
        }
    }

    fn quiet(&self) -> Result<(), String> {
        self.sent.front().map_or(Ok(()), |sent| Err(format!("not expected: {}", show(sent))))
    }

    fn act(&mut self, words: &[&str]) -> Result<(), String> {
        let mut out = Vec::new();
        let now = self.now;
        match (&mut self.end, words) {
            (End::Sender(sender), ["open"]) => sender.open(now, &mut out),
            (End::Sender(sender), ["write", "forever"]) => sender.write_forever(now, &mut out),
            (End::Sender(sender), ["write", bytes]) => sender.write(now, number(bytes)?, &mut out),
            (End::Sender(sender), ["write", bytes, "last"]) => {
                sender.write_last(now, number(bytes)?, &mut out)
            }
            (End::Sender(sender), ["restart", kind @ ("new" | "same")]) => {
                sender.restart(now, *kind == "new", &mut out);
            }
            (End::Receiver(receiver), ["window", bytes]) => receiver.set_window(number(bytes)?, &mut out),
            (_, ["<", rest @ ..]) => return self.arrive(rest),
            _ => return Err(format!("what is {words:?}?")),
        }
        self.collect(out);
        Ok(())
    }

    fn arrive(&mut self, words: &[&str]) -> Result<(), String> {
        let (words, times) = match words.split_last() {
            Some((last, rest)) if last.starts_with('x') => (rest, number(&last[1..])?),
            _ => (words, 1),
        };
        let wanted = Wanted::parse(words)?;
        let largest = if wanted.syn { 65_535 } else { u64::MAX };
        let offer = self.params.advertised_window().min(largest) as u32;
        for mut segment in wanted.segments(u64::from(self.params.mss)) {
            segment.connection = wanted.connection.unwrap_or(1);
            if segment.is_ack {
                segment.window = wanted.window.unwrap_or(offer);
            }
            for _ in 0..times {
                let mut out = Vec::new();
                match &mut self.end {
                    End::Sender(sender) if !wanted.blocks.is_empty() => {
                        sender.on_sack(self.now, &segment, &SackBlocks::of(&wanted.blocks), &mut out);
                    }
                    End::Sender(sender) => sender.on_segment(self.now, &segment, &mut out),
                    End::Receiver(receiver) => receiver.on_segment(self.now, &segment, &mut out),
                }
                self.collect(out);
            }
        }
        Ok(())
    }

    fn expect(&mut self, words: &[&str]) -> Result<(), String> {
        let wanted = Wanted::parse(words)?;
        for segment in wanted.segments(u64::from(self.params.mss)) {
            let sent = self.sent.pop_front().ok_or_else(|| format!("nothing was sent, not {words:?}"))?;
            let mut seen = sent.1;
            seen.window = wanted.window.map_or(0, |_| seen.window);
            seen.connection = wanted.connection.map_or(0, |_| seen.connection);
            if sent.0 != self.now || seen != segment || sent.2 != SackBlocks::of(&wanted.blocks) {
                return Err(format!("expected {words:?}, sent was {}", show(&sent)));
            }
        }
        Ok(())
    }

    fn ask(&self, name: &str, value: Option<&str>) -> Result<(), String> {
        let seen = match &self.end {
            End::Sender(sender) => sender_fact(sender, name),
            End::Receiver(receiver) => receiver_fact(receiver, name),
        };
        let seen = seen.ok_or_else(|| format!("what is {name}?"))?;
        if Some(seen.as_str()) == value { Ok(()) } else { Err(format!("{name} is {seen}, not {value:?}")) }
    }
}

fn sender_fact(sender: &Sender, name: &str) -> Option<String> {
    let stats = sender.stats();
    let number = match name {
        "cwnd" => sender.cwnd(),
        "inflation" => sender.inflation(),
        "ssthresh" => return Some(sender.ssthresh().map_or("unlimited".to_string(), |it| it.to_string())),
        "window" => sender.send_window(),
        "flight" => sender.flight(),
        "acked" => sender.acked(),
        "sent" => stats.segments_sent,
        "retransmitted" => stats.segments_retransmitted,
        "timeouts" => stats.timeouts,
        "fast_retransmits" => stats.fast_retransmits,
        "probes" => stats.window_probes,
        "found_lost" => stats.found_lost,
        "tail_probes" => stats.tail_probes,
        "mark_reactions" => stats.mark_reactions,
        "rto" => return Some(sender.rto().to_string().replace(' ', "")),
        "recovering" => return Some(sender.is_recovering().to_string()),
        "all_acked" => return Some(sender.all_acked().to_string()),
        _ => return None,
    };
    Some(number.to_string())
}

fn receiver_fact(receiver: &Receiver, name: &str) -> Option<String> {
    let number = match name {
        "delivered" => receiver.delivered(),
        "segments" => receiver.stats().segments,
        "out_of_order" => receiver.stats().out_of_order,
        "duplicate" => receiver.stats().duplicate_bytes,
        "marked" => receiver.stats().marked,
        "acks" => receiver.stats().acks,
        _ => return None,
    };
    Some(number.to_string())
}

/// A segment as a script writes it.
#[derive(Debug, Default)]
struct Wanted {
    data: Option<(u64, u64)>,
    ack: Option<u64>,
    window: Option<u32>,
    connection: Option<u32>,
    syn: bool,
    again: bool,
    last: bool,
    ecn: Ecn,
    blocks: Vec<(u64, u64)>,
}

impl Wanted {
    fn parse(words: &[&str]) -> Result<Wanted, String> {
        let mut wanted = Wanted::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || number(words.next().copied().unwrap_or_default());
            match *word {
                "ack" => wanted.ack = Some(value()?),
                "win" => wanted.window = Some(value()? as u32),
                "conn" => wanted.connection = Some(value()? as u32),
                "syn" => wanted.syn = true,
                "synack" => (wanted.syn, wanted.ack) = (true, Some(wanted.ack.unwrap_or(0))),
                "at" => wanted.data = Some((value()?, 0)),
                "again" => wanted.again = true,
                "last" => wanted.last = true,
                "ect" => wanted.ecn = wanted.ecn.with(Ecn::ECT),
                "ce" => wanted.ecn = wanted.ecn.with(Ecn::ECT.with(Ecn::CE)),
                "ece" => wanted.ecn = wanted.ecn.with(Ecn::ECE),
                "cwr" => wanted.ecn = wanted.ecn.with(Ecn::CWR),
                "sack" => {
                    let range = words.next().copied().unwrap_or_default();
                    let (start, end) = range.split_once(':').ok_or_else(|| format!("what is {range}?"))?;
                    wanted.blocks.push((number(start)?, number(end)?));
                }
                range => {
                    let (start, end) = range.split_once(':').ok_or_else(|| format!("what is {range}?"))?;
                    wanted.data = Some((number(start)?, number(end)?));
                }
            }
        }
        Ok(wanted)
    }

    fn segments(&self, mss: u64) -> Vec<Segment> {
        let plain = Segment {
            ack: self.ack.unwrap_or(0),
            window: self.window.unwrap_or(0),
            connection: self.connection.unwrap_or(0),
            syn: self.syn,
            is_ack: self.ack.is_some(),
            repeats: self.again.into(),
            ecn: self.ecn,
            ..Segment::default()
        };
        let Some((start, end)) = self.data.filter(|_| !self.syn) else {
            return vec![Segment { seq: self.data.map_or(0, |(start, _)| start), ..plain }];
        };
        let piece = |seq: u64| {
            let len = (end - seq).min(mss);
            Segment { seq, len: len as u16, last: self.last && seq + len == end, ..plain }
        };
        (start..end).step_by(mss as usize).map(piece).collect()
    }
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("\"{word}\" is not a number"))
}

fn span(word: &str) -> Result<Span, String> {
    Span::parse(word).map_err(|why| format!("{word}: {why}"))
}

fn show((at, what, blocks): &(Time, impl Debug, impl Debug)) -> String {
    format!("{} {what:?} {blocks:?}", Span(at.0))
}

fn value(text: &str) -> Value {
    match (text.parse(), text.parse()) {
        (Ok(flag), _) => Value::Bool(flag),
        (_, Ok(number)) => Value::Integer(number),
        _ => Value::Text(text.to_string()),
    }
}

/// Run a script; an error names the line.
fn run(text: &str) -> Result<(), String> {
    if !text.starts_with("# ") {
        return Err("the first line says what the script shows".to_string());
    }
    let lines =
        text.lines().enumerate().map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()));
    let (mut end, mut keys, mut phase, mut started) = ("", Vec::new(), Span::ZERO, None::<Run>);
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fault = |why: String| format!("line {number}: {line}: {why}");
        match (words.as_slice(), &mut started) {
            (["sender" | "receiver"], None) => end = words[0],
            (["phase", at], None) => phase = span(at).map_err(fault)?,
            (["set", key, "=", rest @ ..], None) => keys.push((key.to_string(), value(&rest.join(" ")))),
            ([_, _, ..], None) => {
                let params = super::params(&keys).map_err(fault)?;
                let mut run = Run::new(end, params, phase).map_err(fault)?;
                run.line(&words).map_err(fault)?;
                started = Some(run);
            }
            ([_, _, ..], Some(run)) => run.line(&words).map_err(fault)?,
            _ => return Err(fault("what is this?".to_string())),
        }
    }
    started.ok_or("nothing happens")?.quiet().map_err(|why| format!("at the end: {why}"))
}

#[test]
fn every_script_passes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/tcp");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "script"));
    names.sort();
    assert!(!names.is_empty());
    let failed: Vec<String> = names
        .iter()
        .filter_map(|path| {
            let why = run(&std::fs::read_to_string(path).unwrap()).err()?;
            Some(format!("{}: {why}", path.file_name().unwrap().display()))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} scripts fail:\n{}", failed.len(), names.len(), failed.join("\n"));
}

#[test]
fn a_script_that_expects_something_else_fails() {
    let head = "# x\nsender\nset mss = 1000\nset handshake = false\n0ms open\n0ms write 1000\n";
    let outcome = |rest: &str| run(&format!("{head}{rest}"));
    assert_eq!(outcome("0ms > 0:1000\n1ms < ack 1000\n"), Ok(()));
    for (rest, why) in [
        ("", "not expected"),
        ("0ms > 0:999\n", "sent was"),
        ("1ms > 0:1000\n", "sent was"),
        ("0ms > 0:1000 again\n", "sent was"),
        ("0ms > 0:1000\n0ms > 1000:2000\n", "nothing was sent"),
        ("0ms > 0:1000\n0ms ? cwnd 1\n", "cwnd is 1000"),
        ("0ms > 0:1000\n20s quiet\n", "not expected"),
        ("0ms > 0:1000\n0ms ? colour 1\n", "what is colour"),
        ("0ms quiet\n", "not expected"),
    ] {
        let fault = outcome(rest).unwrap_err();
        assert!(fault.contains(why), "{rest}: {fault}");
    }
}
