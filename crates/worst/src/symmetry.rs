//! Orders of ports: states that differ only in the numbers of ports are one state, if the policies treat ports alike.

/// The new place of each port.
pub(crate) type Order = Vec<usize>;

/// Most ports of which all orders are tabulated.
pub(crate) const MOST_PORTS: usize = 5;

/// Return all orders of ports; the first one changes nothing.
pub(crate) fn orders(ports: usize) -> Vec<Order> {
    let mut orders = vec![Vec::new()];
    for port in 0..ports {
        let longer = |order: &Order| (0..=port).map(|place| inserted(order, port, place)).collect::<Vec<_>>();
        orders = orders.iter().flat_map(longer).collect();
    }
    orders.sort(); // the order without changes comes first
    orders
}

fn inserted(order: &[usize], port: usize, place: usize) -> Order {
    let mut order = order.to_vec();
    order.insert(place, port);
    order
}

/// Return the words of a state in the new order of ports. The state begins with `blocks` blocks, which have a word for each
/// port; the words behind them belong to no port and keep their places.
pub(crate) fn moved(state: &[u16], order: &Order, blocks: usize) -> Box<[u16]> {
    let mut moved: Box<[u16]> = state.into();
    for block in 0..blocks {
        let first = block * order.len();
        state[first..].iter().zip(order).for_each(|(&word, &place)| moved[first + place] = word);
    }
    moved
}
