//! What is counted, averaged and compared.

pub mod spread;

pub mod occupancy;

pub mod port;

pub mod delivery;

pub mod throughput;

pub mod fairness;

pub mod ideal;
