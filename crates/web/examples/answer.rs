//! Answer requests natively, one on each line of the standard input, as a browser should answer them.

use std::io::{self, BufRead, Write};

use pushout_web::request::OpenRuns;

fn main() -> io::Result<()> {
    let (mut runs, mut out) = (OpenRuns::default(), io::stdout().lock());
    for request in io::stdin().lock().lines() {
        writeln!(out, "{}", runs.answer(&request?))?;
    }
    Ok(())
}
