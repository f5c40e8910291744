//! # Source
//! The inputs of simulators of data centres: connection matrices of htsim (C. Raiciu, M. Handley), and the flow files of
//! the HPCC simulator (Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019) and its descendants.
//!
//! # Idea
//! Every row of a file is one transfer: its two hosts, its bytes and its start. Each transfer has a connection of its own.
//!
//! # Parameters
//! `file`: a CSV file, whose first line names the columns.
//!
//! - `from`, `to`: hosts, by their names, or else by numbers that count the hosts of the scenario from 0;
//! - `bytes`: a whole number, or a size with a unit (`64 kB`);
//! - `start`: seconds, or a time with a unit (`20 us`);
//! - `name` of the transfer, by default `workload.N` for transfer N, counted from 1;
//! - `queue` and `class`, as the keys of a flow; an empty field stands for that of `[flows]`;
//! - `after`: names of transfers, separated by semicolons. When the last octet of all of them has been acknowledged, this transfer starts,
//!   after a delay of `after_delay` and its own `start`, both by default none.
//!
//! The last four may be left out. Lines that are empty or begin with `#` are skipped. Instead of CSV the file may be a connection matrix of
//! htsim (`.cm`), or a flow file of the HPCC family; their numbers count the hosts of the scenario from 0. Its path is relative to the
//! scenario. `pushout` reads the file and adds its rows to the scenario as a table `rows`, so that they are part of its identity;
//! `pushout explain --json` writes them as `data`. `data` may also be written instead of `file`.
//!
//! # Differences from the paper
//! A trigger of htsim is an `after` here. The port and the priority group of a flow file have no effect, but the group names the class of
//! the flow in the report.
//!
//! # Complexity
//! As of the source `arrivals`, for every transfer. Over packets the fast engine runs transfers that wait for others of their own
//! host, and those that wait across hosts with a delay above 0; the reference engine runs the others.

use crate::language::values::FileText;
use crate::section;
use crate::units::Span;

section! {
    /// Transfers from a file, each a connection of its own.
    pub struct Params {
        /// The file: CSV, a connection matrix of htsim (.cm), or a flow file of the HPCC family.
        pub file: Option<String> = None,
        /// The rows of the file as CSV, which `pushout` adds; or rows that are written here instead of a file.
        pub data: Option<FileText> = None,
        /// Time from the end of the last transfer for which a transfer waits to its start, in addition to the `start` of its row.
        /// Transfers that wait for none start at the `start` of their rows.
        pub after_delay: Span = Span::ZERO,
    }
}

impl Params {
    /// Name of the table of a scenario that contains the rows of files.
    pub const TABLE: &'static str = "rows";

    /// Return the key of the list in messages: that of the file, or without a file that of the rows.
    pub fn key(&self) -> &'static str {
        if self.file.is_some() { "file" } else { "data" }
    }

    /// Return how messages name a line of the list.
    pub fn place(&self, line: u32) -> String {
        self.file.as_ref().map_or_else(|| format!("line {line}"), |file| format!("{file}:{line}"))
    }
}
