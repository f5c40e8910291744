//! What a failed test prints.

use pushout_core::units::{Quantity, Rate};

use crate::path::Path;

impl Path {
    /// Compare a number of octets that an application has received by now with a rate, as `"15 Mb/s"`. The error is the
    /// message of a failed test; [`assert_goodput!`](crate::assert_goodput) panics with it. Before time has passed no goodput is enough.
    pub fn check_goodput(&self, octets: u64, least: &str) -> Result<(), String> {
        let least = Rate::parse(least).map_err(|why| format!("least is {least:?}: {}", why.0))?;
        let (bits, time) = (u128::from(octets) * 8, u128::from(self.now().picos()));
        let second = u128::from(pushout_core::units::PS_PER_S);
        if time == 0 {
            return Err("goodput must be measured after the start, and no time has passed\n".to_string());
        }
        if bits * second >= u128::from(least.0) * time {
            return Ok(());
        }
        let reached = bits as f64 / self.now().seconds() / 1e6;
        let goal = least.as_f64() / 1e6;
        Err(format!("goodput must be at least {goal} Mb/s, not {reached:.3} Mb/s\n{}", self.explain()))
    }
}

/// Assert that the octets that an application has received by now make at least this goodput. A failure says what the network did: where it
/// lost packets, by which rule, and which three decisions cost most. It writes a scenario that repeats the run into the
/// folder for temporary files, and prints its name.
///
/// ```should_panic
/// use pushout_net::{Ecn, Path, Time, assert_goodput};
///
/// let mut path = Path::builder().rate("10 Mb/s").buffer("3 packets").build()?;
/// let (client, server) = (path.host("client1")?, path.host("server1")?);
/// let flow = path.open(client, server)?;
/// for _ in 0..10 {
///     path.offer(Time::ZERO, client, 1500, flow, Ecn::NotEct)?;
/// }
/// let received: u64 = path.take(std::time::Duration::from_millis(30)).iter().filter(|it| it.arrived()).map(|it| u64::from(it.octets)).sum();
/// assert_goodput!(path, received, "9 Mb/s"); // 3 packets in 30 ms are 1.2 Mb/s
/// # Ok::<(), pushout_net::Error>(())
/// ```
#[macro_export]
macro_rules! assert_goodput {
    ($path:expr, $octets:expr, $least:expr $(,)?) => {
        if let Err(message) = $path.check_goodput($octets, $least) {
            let place = format!("{}-{}", module_path!().replace("::", "-"), line!());
            let file = ::std::env::temp_dir().join(format!("pushout-{place}.toml"));
            match ::std::fs::write(&file, $path.scenario_file()) {
                Ok(()) => panic!("{message}the run again: pushout run {}", file.display()),
                Err(why) => panic!("{message}the scenario cannot be written to {}: {why}", file.display()),
            }
        }
    };
}
