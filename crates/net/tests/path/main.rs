//! Tests of paths as callers use them.

#![allow(clippy::unwrap_used)] // what fails fails the test

mod common;
mod equality;
mod honest;
mod refused;
