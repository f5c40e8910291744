//! What cannot be is one error, and nothing panics.

use std::time::Duration;

use crate::common::{Draws, network};
use pushout_net::{Ecn, Error, Path, Time};

const NETWORK: &str = "name = 'n'\nduration = '1 s'\nadaptation = { kind = 'packet' }\n\
    [[node]]\nname = 'a'\nkind = 'host'\n[[node]]\nname = 'b'\nkind = 'host'\n\
    [[link]]\nfrom = 'a'\nto = 'b'\nrate = '1 Mb/s'\ndelay = '1 ms'\n";

fn scenario(text: &str) -> String {
    match Path::from_toml(text) {
        Err(Error::Scenario(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn packets_that_cannot_be_sent_are_errors_and_the_path_goes_on() {
    let mut path = Path::builder().hosts(2).build().unwrap();
    let [client, server, other] = ["client1", "server1", "client2"].map(|name| path.host(name).unwrap());
    let flow = path.open(client, server).unwrap();
    let ms = Duration::from_millis;
    path.offer(ms(2), client, 1500, flow, Ecn::NotEct).unwrap();
    let mut refused = |now, host, octets| path.offer(now, host, octets, flow, Ecn::NotEct).unwrap_err();
    assert_eq!(refused(ms(1), client, 1500), Error::Past { given: ms(1).into(), reached: ms(2).into() });
    for given in [0, 28, 1501, 70_000, usize::MAX] {
        assert_eq!(refused(ms(2), client, given), Error::Length { given, most: 1500 });
    }
    assert!(matches!(refused(ms(2), other, 1500), Error::UnknownHost(why) if why.contains("\"client2\"")));
    assert_eq!(refused(Duration::MAX, client, 1500), Error::TooLate(Duration::MAX.into()));
    path.close(flow).unwrap();
    assert!(matches!(path.offer(ms(3), client, 1500, flow, Ecn::NotEct), Err(Error::UnknownFlow(_))));
    assert_eq!(path.take(ms(40)).len(), 1);
    assert!(matches!(path.host("client3"), Err(Error::UnknownHost(why)) if why.contains("did you mean")));
    assert!(matches!(path.port("botleneck"), Err(Error::UnknownPort(why)) if why.contains("bottleneck")));
    assert!(matches!(path.open(client, client), Err(Error::UnknownHost(_))));
}

#[test]
fn flows_come_and_go_within_the_room_for_them() {
    let mut path = Path::builder().flows(2).build().unwrap();
    let (client, server) = (path.host("client1").unwrap(), path.host("server1").unwrap());
    let first = path.open(client, server).unwrap();
    path.offer(Time::ZERO, client, 100, first, Ecn::NotEct).unwrap();
    path.open(server, client).unwrap();
    assert!(matches!(path.open(client, server), Err(Error::NoFlowLeft { flows: 2, .. })));
    path.close(first).unwrap();
    assert!(path.open(client, server).is_err(), "its packet is on its way");
    path.take(Duration::from_secs(1));
    let next = path.open(client, server).unwrap();
    assert_ne!(next, first);
    path.offer(Duration::from_secs(1), server, 100, next, Ecn::NotEct).unwrap();
    assert_eq!(path.take(Duration::from_secs(2))[0].flow, next);
    let mut many = Path::builder().build().unwrap();
    let (client, server) = (many.host("client1").unwrap(), many.host("server1").unwrap());
    let refused = (0..1_000_000).find_map(|_| many.open(client, server).err());
    assert_eq!(refused, Some(Error::TooManyFlows(4096)));
}

#[test]
fn a_scenario_of_cells_is_refused_where_a_flow_needs_it() {
    let cells = NETWORK.replace("packet", "aal5");
    assert!(scenario(&cells).contains("must carry packets, not cells"), "{}", scenario(&cells));
}

#[test]
fn a_scenario_with_an_error_is_refused_with_its_message() {
    assert!(scenario(&NETWORK.replace("1 Mb/s", "1 parsec")).contains("rate"));
    assert!(scenario(&NETWORK.replace("rate", "rat")).contains("did you mean"));
    assert!(scenario("name = ").contains("scenario:1"));
    assert!(Path::builder().policy("codell").build().unwrap_err().to_string().contains("codel"));
    for loss in [-0.1, 1.0, f64::NAN] {
        assert!(Path::builder().loss(loss).build().is_err());
    }
    assert!(Path::builder().hosts(0).build().is_err());
    assert!(Path::builder().mtu(28).build().is_err() && Path::builder().mtu(65_536).build().is_err());
    assert!(Path::builder().rate("1 Mb/s\"\nx = \"").build().is_err());
    let unlike = NETWORK.replace("duration = '1 s'", "'duration' = '1 s'");
    let mut path = Path::from_toml(&unlike).unwrap();
    let (a, b) = (path.host("a").unwrap(), path.host("b").unwrap());
    path.open(a, b).unwrap();
    let written = path.scenario_file();
    assert!(written.contains("\nduration = \"1 ps\"\n") && !written.contains("1 s"), "{written}");
}

#[test]
fn a_message_about_added_sections_shows_their_line_and_one_about_a_setting_its_key() {
    let refused = |sections: &str| Path::builder().toml(sections).build().unwrap_err().to_string();
    let told = refused("[[loss]]\nlink = 'bottlneck'\npackets = [1]\n");
    assert!(told.starts_with("scenario:2:8: loss") && told.contains("did you mean"), "{told}");
    let told = refused("[port.bottleneck]\nbuffer = '9 kB'\n");
    assert_eq!(told, "port.bottleneck.buffer must not be set twice: the builder sets it");
    assert!(
        Path::builder()
            .toml("[port.bottleneck]\nshaper = { rate = '1 Mb/s', burst = '3 kB' }\n")
            .build()
            .is_ok()
    );
    let told = Path::builder().rate("fast").build().unwrap_err().to_string();
    assert!(told.starts_with("link.bottleneck.rate") && !told.contains("scenario:"), "{told}");
}

/// Ten thousand calls with whatever comes to hand: parts of other paths, instants of the past, lengths that no packet has.
#[test]
fn no_call_panics() {
    let mut errors = 0;
    for seed in 400..420 {
        let draws = &mut Draws::new(seed);
        let (mut one, other) = (network(draws), network(draws));
        let parts = [&one, &other].map(|traffic| (traffic.hosts.clone(), traffic.flows.clone()));
        let handles: Vec<_> = one.offer(draws, Time::ZERO).iter().map(|(handle, _, _)| *handle).collect();
        for _ in 0..500 {
            let (hosts, flows) = &parts[draws.up_to(1) as usize];
            let (host, again) = (hosts[draws.up_to(hosts.len() as u64 - 1) as usize], hosts[0]);
            let (flow, _) = flows[draws.up_to(flows.len() as u64 - 1) as usize];
            let [bits, size] = [34, 18].map(|most| draws.up_to(most));
            let far = if draws.up_to(50) == 0 { 1 << 63 } else { 0 }; // beyond the last instant
            let now = Time::from_picos(draws.up_to(1 << bits) + far);
            let octets = draws.up_to(1 << size) as usize;
            let path = &mut one.path;
            let failed = match draws.up_to(9) {
                0..=3 => path.offer(now, host, octets, flow, Ecn::Ect0).is_err(),
                4 => path.open(host, again).is_err(),
                5 => path.reserve(host, again, octets).is_err(),
                6 if draws.up_to(9) == 0 => path.close(flow).is_err(),
                7 => path.flow_name(flow, host).is_err(),
                8 if now.picos() < 1 << 35 => !path.take(now).is_empty(),
                _ => path.why(handles[0]).is_err(),
            };
            errors += u32::from(failed);
        }
    }
    assert!(errors > 1000, "{errors}");
}

/// Texts that are nearly scenarios: each is refused with a message, or is one.
#[test]
fn hostile_texts_are_refused() {
    let mut refused = 0;
    for seed in 0..2000 {
        let draws = &mut Draws::new(seed);
        let mut text: Vec<u8> = NETWORK.bytes().collect();
        for _ in 0..1 + draws.up_to(3) {
            let at = draws.up_to(text.len() as u64 - 1) as usize;
            match draws.up_to(3) {
                0 => text[at] = draws.up_to(255) as u8,
                1 => drop(text.drain(at..(at + 20).min(text.len()))),
                2 => text.insert(at, b"[]{}='\"9e-\n"[draws.up_to(10) as usize]),
                _ => text.extend(text[at..].to_vec()),
            }
        }
        let Ok(text) = String::from_utf8(text) else { continue };
        if let Err(why) = Path::from_toml(&text) {
            assert!(!why.to_string().is_empty());
            refused += 1;
        }
    }
    assert!(refused > 1000, "{refused}");
    assert!(Path::from_toml(&"[".repeat(100_000)).is_err());
}
