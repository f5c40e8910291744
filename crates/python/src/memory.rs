//! A limit on the memory of the process: a thread compares with it while others simulate.

use std::io::{Write, stderr};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;
use std::{fs, process, thread};

/// Interval between two comparisons of the memory with its limit: short compared with the seconds in which runs fill
/// gigabytes.
const EVERY: Duration = Duration::from_millis(50);

/// Limit of the memory, and the way in which the process ends beyond it.
struct Limit {
    octets: u64,
    message: String,
    code: i32,
}

/// The limit that was set last.
static LIMIT: Mutex<Option<Limit>> = Mutex::new(None);
/// Starts the thread, once in a process.
static WATCH: Once = Once::new();

/// End the process with the code and the message as soon as it has more octets in memory than `octets`; replaces an earlier limit.
pub(crate) fn limit(octets: u64, message: String, code: i32) {
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Limit { octets, message, code });
    WATCH.call_once(|| _ = thread::Builder::new().spawn(watch)); // a system without a thread to spare has no watch
}

/// Compare until the system no longer says how much memory is used.
fn watch() {
    while let Some(resident) = resident() {
        if let Some(limit) = &*LIMIT.lock().unwrap_or_else(PoisonError::into_inner)
            && resident > limit.octets
        {
            let _ = writeln!(stderr(), "{}", limit.message); // without a reader the code remains
            process::exit(limit.code);
        }
        thread::sleep(EVERY);
    }
}

/// Octets of the process in memory, on Linux.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilo: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(1024 * kilo)
}
