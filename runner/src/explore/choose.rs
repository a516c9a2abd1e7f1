//! Choices that hang on the seed alone.

use fastrand::Rng;

/// One of several, of which there is at least one.
pub fn among<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.usize(..items.len())]
}

/// True in so many cases of a hundred.
pub fn chance(rng: &mut Rng, of_hundred: u32) -> bool {
    rng.u32(..100) < of_hundred
}

/// The place of one of several, each as likely as its weight says.
pub fn weighted(rng: &mut Rng, weights: &[u32]) -> usize {
    let total: u32 = weights.iter().sum();
    let mut left = rng.u32(..total);
    for (place, weight) in weights.iter().enumerate() {
        if left < *weight {
            return place;
        }
        left -= weight;
    }
    0
}
