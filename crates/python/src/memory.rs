//! A limit on the memory of the process: a thread looks at it while others simulate.

use std::io::{Write, stderr};
use std::time::Duration;
use std::{fs, process, thread};

/// How often the memory is compared with the limit: short beside the seconds in which runs fill gigabytes.
const EVERY: Duration = Duration::from_millis(50);

/// End the process with the code and the message as soon as it has more octets in memory than `limit`.
pub(crate) fn limit(limit: u64, message: String, code: i32) {
    thread::spawn(move || {
        // Where the system does not say how much it is, nothing is compared.
        while let Some(resident) = resident() {
            if resident > limit {
                let _ = writeln!(stderr(), "{message}"); // without a reader the code remains
                process::exit(code);
            }
            thread::sleep(EVERY);
        }
    });
}

/// Octets of the process in memory, on Linux.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilo: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(1024 * kilo)
}
