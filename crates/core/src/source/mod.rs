//! What applications want to send, and when.
//!
//! A source that fills a transport (`greedy`, `file`) is driven by the transport's progress; a source that clocks
//! its own units (`cbr`, `poisson`) is driven by time. Rates count every octet on the line, headers and padding
//! included, so that a load is simply the sum of rates over the rate of the line.

pub mod file;

pub mod greedy;

pub mod cbr;

pub mod poisson;

pub mod clock;

crate::variants! {
    /// A source as a scenario asks for it.
    "source" by "kind" {
        Greedy = "greedy" in greedy,
        File = "file" in file,
        Cbr = "cbr" in cbr,
        Poisson = "poisson" in poisson,
    }
}
