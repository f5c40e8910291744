//! Random networks and random traffic of a caller.

use pushout_core::rng::Stream;
use pushout_net::{Delivery, Ecn, Flow, Handle, Host, Path, Time};

/// The sizes of the caller's packets: few, so that packets of several hosts meet at one picosecond.
const SIZES: [usize; 4] = [1500, 1500, 40, 500];

/// Policies of the bottleneck: with state of their own, with draws, with marks.
const POLICIES: [&str; 14] = [
    "tail-drop",
    "fq-codel",
    "fq-pie",
    "dualpi2",
    "{ policy = 'codel', action = 'mark', target = '1 ms', interval = '5 ms' }",
    "{ policy = 'codel', target = '1 ms', interval = '5 ms' }",
    "{ policy = 'pie', target = '1 ms', update = '2 ms', burst = '1 ms' }",
    "{ policy = 'red', min_threshold = '2 kB', max_threshold = '5 kB', weight = 0.1 }",
    "{ policy = 'red', min_threshold = '2 kB', max_threshold = '5 kB', weight = 0.1, action = 'mark' }",
    "{ policy = 'step', threshold = '4500 bytes', action = 'mark' }",
    "{ policy = 'drop-from-front' }",
    "{ policy = 'fba' }",
    "{ policy = 'fred' }",
    "{ policy = 'dynamic-threshold', alpha = 0.5 }",
];

/// Numbers for one network.
pub(crate) struct Draws(Stream);

impl Draws {
    pub(crate) fn new(seed: u64) -> Draws {
        Draws(Stream::new(seed, format_args!("network in a test")))
    }

    /// A number from 0 to `most`.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        self.0.up_to(most)
    }

    pub(crate) fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.up_to(list.len() as u64 - 1) as usize]
    }

    fn one_of(&mut self, odds: u64) -> bool {
        self.up_to(odds - 1) == 0
    }
}

/// A path whose caller sends at random.
#[derive(Clone)]
pub(crate) struct Traffic {
    pub(crate) path: Path,
    pub(crate) hosts: Vec<Host>,
    pub(crate) flows: Vec<(Flow, [Host; 2])>,
}

/// Draw a network of a bottleneck, or of a memory that two ports share.
pub(crate) fn network(draws: &mut Draws) -> Traffic {
    let pairs = 1 + draws.up_to(2) as usize;
    let mut path = if draws.one_of(3) { memory(draws, pairs) } else { bottleneck(draws, pairs) };
    let names: Vec<String> = path.hosts().iter().map(ToString::to_string).collect();
    let hosts: Vec<Host> =
        names.iter().filter(|name| name.len() == 7).map(|name| path.host(name).unwrap()).collect();
    let flows = (0..pairs * 2).map(|number| {
        let ends = [hosts[number % pairs * 2], hosts[number % pairs * 2 + 1]];
        (path.open(ends[0], ends[1]).unwrap(), ends)
    });
    let flows = flows.collect();
    Traffic { path, hosts, flows }
}

fn bottleneck(draws: &mut Draws, pairs: usize) -> Path {
    let policy = draws.of(&POLICIES);
    let builder = Path::builder()
        .hosts(pairs)
        .rate(draws.of(&["12 Mb/s", "10 Mb/s", "7 Mb/s"]))
        .rate_back(draws.of(&["12 Mb/s", "3 Mb/s"]))
        .delay(draws.of(&["1 ms", "300 us", "1333 ns"]))
        .access(draws.of(&["100 Mb/s", "24 Mb/s"]))
        .buffer(draws.of(&["6 kB", "15 kB", "40 kB"]))
        .policy(policy)
        .loss(if draws.one_of(3) { 0.05 } else { 0.0 })
        .flows(2)
        .seed(draws.up_to(1_000_000));
    let mut more = String::new();
    if draws.one_of(3) {
        more.push_str("[[loss]]\nlink = 'bottleneck'\npackets = [3, 5, 8, 13]\n");
    }
    if draws.one_of(2) {
        more.push_str(&background("left", "right"));
    }
    builder.toml(&more).build().unwrap_or_else(|why| panic!("{policy}: {why}"))
}

/// Traffic of the network's own: TCP, which reacts, and packets at random.
fn background(left: &str, right: &str) -> String {
    let mut text = String::new();
    for (host, node) in [("own1", left), ("own2", right)] {
        text.push_str(&format!(
            "[[node]]\nname = '{host}'\nkind = 'host'\n[[link]]\nfrom = '{host}'\nto = '{node}'\nrate = '24 Mb/s'\ndelay = '10 us'\n"
        ));
    }
    text + "[[flow]]\nname = 'tcp'\nfrom = 'own1'\nto = 'own2'\nsource = { kind = 'greedy' }\ntransport = { kind = 'tcp', congestion = 'cubic' }\n\
            [[flow]]\nname = 'udp'\nfrom = 'own2'\nto = 'own1'\nsource = { kind = 'poisson', rate = '2 Mb/s', size = '700 bytes' }\ntransport = { kind = 'udp', ecn = true }\n"
}

fn memory(draws: &mut Draws, pairs: usize) -> Path {
    let sharing = draws.of(&[
        "{ policy = 'dynamic-threshold', alpha = 1 }",
        "{ policy = 'complete-sharing' }",
        "{ policy = 'abm', alpha = 0.5 }",
        "{ policy = 'occamy', alpha = 8 }",
    ]);
    let pushout = if sharing.contains("complete") && draws.one_of(2) {
        "pushout = { policy = 'longest-queue' }"
    } else {
        ""
    };
    let mut text = format!(
        "name = 'shared'\nduration = '1 s'\nwarmup = '10 ms'\nadaptation = {{ kind = 'packet' }}\nseed = {}\n\
         [[node]]\nname = 'chip'\nkind = 'router'\n\
         [port.down]\nmemory = 'chip'\n\
         [memory.chip]\nsize = '16 kB'\ncell = '208 bytes'\nadmission = {sharing}\n{pushout}\n",
        draws.up_to(1000)
    );
    for number in 1..=pairs {
        for host in ["client", "server"] {
            let rate = draws.of(&["12 Mb/s", "8 Mb/s"]);
            text.push_str(&format!(
                "[[node]]\nname = '{host}{number}'\nkind = 'host'\n\
                 [[link]]\nfrom = '{host}{number}'\nto = 'chip'\nrate = '24 Mb/s'\ndelay = '20 us'\nduplex = false\n\
                 [[link]]\nfrom = 'chip'\nto = '{host}{number}'\nclass = 'down'\nrate = '{rate}'\ndelay = '20 us'\nduplex = false\n"
            ));
        }
    }
    Path::from_toml(&text).unwrap_or_else(|why| panic!("{sharing}: {why}"))
}

/// An instant of the caller, whose clock has whole microseconds, or is that of a delivery.
pub(crate) fn later(draws: &mut Draws, now: Time) -> Time {
    Time::from_picos((now.picos().div_ceil(1_000_000) + draws.up_to(3) * draws.up_to(250)) * 1_000_000)
}

impl Traffic {
    /// Offer one packet or several, at `now`.
    pub(crate) fn offer(&mut self, draws: &mut Draws, now: Time) -> Vec<(Handle, Flow, Host)> {
        let count = 1 + draws.up_to(3);
        let offer = |_| {
            let (flow, ends) = self.flows[draws.up_to(self.flows.len() as u64 - 1) as usize];
            let from = usize::from(draws.one_of(3));
            let octets = SIZES[draws.up_to(3) as usize];
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][draws.up_to(2) as usize];
            (self.path.offer(now, ends[from], octets, flow, ecn).unwrap(), flow, ends[1 - from])
        };
        (0..count).map(offer).collect()
    }
}

/// Deliveries, one a line, for comparisons.
pub(crate) fn lines(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(|delivery| format!("{delivery:?}")).collect()
}
