//! Measurements: counts, averages and comparisons.

pub mod spread;

pub mod occupancy;

pub mod port;

pub mod durations;

pub mod state;

pub mod steps;

pub mod fairness;

pub mod ideal;
