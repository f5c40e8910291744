//! # Source
//! Trace-driven simulation: R. Jain, "The Art of Computer Systems Performance Analysis", 1991, chapter 24.
//!
//! # Idea
//! The packets of a recording are sent again, at the same times and with the same lengths.
//!
//! # Parameters
//! `file`: a CSV or Parquet file with the columns `time` (seconds from the start of the flow), `bytes` and perhaps `flow`, or a capture in
//! the format pcap or pcapng, whose times count from its first packet. Its path is relative to the scenario. `flow`: only rows with this
//! value in the column `flow`. Over UDP, `bytes` are those of a whole IP packet with its headers; over TCP they are what an application
//! writes, and TCP cuts them into segments. `pushout` reads the file and adds its packets to the scenario as a table `recording`, so that
//! they are part of its identity; `pushout explain --json` writes them as `data`.
//!
//! # Differences from the paper
//! A recording does not react: packets of TCP in a capture are sent at the times that the congestion of the recorded network caused.
//!
//! # Complexity
//! Constant per packet; about four octets of memory each.

use serde_json::{Value as Json, json};

use super::clock::UnitClock;
use super::length::Length;
use super::recording::Recording;
use super::{Source, Traffic};
use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::refused::{Refused, refuse_if};
use crate::rng::Stream;
use crate::section;

section! {
    /// Packets of a recording, at their times.
    pub struct Params {
        /// The file that was recorded: CSV, Parquet, pcap or pcapng.
        pub file: String,
        /// Only rows of this flow.
        pub flow: Option<String> = None,
        /// The packets of the file, which `pushout` adds.
        pub data: Option<Data> = None,
    }
}

/// The recording that a source replays, in the form of the lengths of its packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Data(pub Length);

impl Data {
    /// Return the recording.
    pub fn recording(&self) -> &Recording {
        match &self.0 {
            Length::Recorded(recording) => recording,
            _ => unreachable!("its lengths are recorded"),
        }
    }
}

impl Field for Data {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let Value::Text(text) = &node.value else {
            return Err(node.fault(path, "must be a recording that pushout has read from a file"));
        };
        let recording =
            Recording::parse(text).map_err(|why| node.fault(path, format!("a recording: {why}")))?;
        Ok(Data(Length::Recorded(recording)))
    }

    fn write(&self) -> Json {
        self.recording().text().into()
    }

    fn shape() -> Shape {
        let schema = json!({ "type": "string", "format": "recording", "examples": ["1 ms;AOgHA+gHBdwL"] });
        Shape { unit: "recording", schema }
    }
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Pieces;

impl Params {
    /// Name of the table of a scenario that contains the packets of recordings.
    pub const TABLE: &'static str = "recording";

    /// Return the key of that table for the packets of a file, or of one flow in the file.
    pub fn recording_name(file: &str, flow: Option<&str>) -> String {
        flow.map_or_else(|| file.to_string(), |flow| format!("{file}#{flow}"))
    }

    /// Refuse recorded packets that are shorter than their headers.
    pub fn check_headers(&self, headers: u32) -> Result<(), Refused> {
        let Some(data) = &self.data else { return Ok(()) };
        let (shortest, longest) = (data.recording().shortest(), data.recording().longest());
        let message = format!(
            "the shortest packet has {shortest} bytes; over UDP it has at least {headers}, its headers"
        );
        refuse_if(shortest < u64::from(headers), "file", message)?;
        refuse_if(
            longest == u64::from(headers),
            "file",
            "must have a packet that is longer than its IP and UDP headers",
        )
    }
}

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        let message =
            "the file has not been read; only pushout reads files, and an override cannot name another one";
        refuse_if(self.data.is_none(), "file", message)
    }

    fn packet(&self, headers: u32) -> Option<(u64, &'static str)> {
        Some((self.data.as_ref()?.recording().longest().max(headers.into()), "source.file"))
    }

    fn length(&self) -> Option<&Length> {
        self.data.as_ref().map(|data| &data.0)
    }

    fn mean_rate(&self, payload: f64, _: u64) -> Option<f64> {
        Some(8.0 * payload * self.data.as_ref()?.recording().packets_per_second())
    }

    fn packets(&self) -> Option<u64> {
        self.data.as_ref().map(|data| data.recording().packets())
    }

    fn clock(&self, _: u64, _: &dyn Fn(&str) -> Stream) -> Option<UnitClock> {
        self.data.as_ref().map(|data| UnitClock::Recorded(data.recording().reader()))
    }
}
