//! Variables of policies, schedulers, credits and senders, sampled over time.

use std::borrow::Cow;

/// One figure of a state, such as a probability of discard.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the figure in reports; a program has names of its own.
    pub name: Cow<'static, str>,
    /// The port's queue, or the line's credit account, that the figure describes; `None` for a figure of all of them.
    pub queue: Option<usize>,
    /// Value of the figure.
    pub value: f64,
}

impl Figure {
    /// Build a figure of a whole port or sender.
    pub fn of_all(name: impl Into<Cow<'static, str>>, value: f64) -> Figure {
        Figure { name: name.into(), queue: None, value }
    }

    /// Build a figure of each queue, in the order of queue numbers.
    pub fn of_queues(
        name: impl Into<Cow<'static, str>>,
        values: impl IntoIterator<Item = f64>,
    ) -> impl Iterator<Item = Figure> {
        let name = name.into();
        let figure = move |(queue, value)| Figure { name: name.clone(), queue: Some(queue), value };
        values.into_iter().enumerate().map(figure)
    }
}

/// Return the value of each figure at every sample; the first row gives name and queue.
pub fn over_time(rows: &[Vec<Figure>]) -> Vec<(Figure, Vec<f64>)> {
    let first = rows.first().map(Vec::as_slice).unwrap_or_default();
    let values = |place: usize| rows.iter().map(|row| row[place].value).collect();
    first.iter().enumerate().map(|(place, figure)| (figure.clone(), values(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_figures_become_a_series_of_each() {
        let row = |p, counts: [f64; 2]| {
            let figures = Figure::of_queues("count", counts);
            std::iter::once(Figure::of_all("probability", p)).chain(figures).collect::<Vec<_>>()
        };
        let series = over_time(&[row(0.1, [1.0, 2.0]), row(0.2, [3.0, 4.0])]);
        let short: Vec<_> = series.iter().map(|(figure, values)| (figure.queue, values.as_slice())).collect();
        assert_eq!(short, [(None, &[0.1, 0.2][..]), (Some(0), &[1.0, 3.0]), (Some(1), &[2.0, 4.0])]);
        assert!(over_time(&[]).is_empty());
    }
}
