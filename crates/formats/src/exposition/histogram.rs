//! Counts values in buckets, in Prometheus' form.

use super::Reading;

/// Counts values by upper bounds.
#[derive(Clone, Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// Values per bucket, not cumulative; the last bucket holds values beyond all bounds.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// An empty histogram; `bounds` must ascend.
    #[must_use]
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    /// Counts a value.
    pub fn observe(&mut self, value: f64) {
        self.counts[self.bounds.partition_point(|bound| *bound < value)] += 1;
        self.sum += value;
    }

    /// What has been counted.
    #[must_use]
    pub fn reading(&self) -> Reading {
        let mut at_most = 0;
        let buckets = self.bounds.iter().zip(&self.counts).map(|(bound, count)| {
            at_most += count;
            (*bound, at_most)
        });
        Reading::Distribution { buckets: buckets.collect(), sum: self.sum, count: self.counts.iter().sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_in_every_bucket_above_it() {
        let mut histogram = Histogram::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 7.0] {
            histogram.observe(value);
        }
        let want = Reading::Distribution { buckets: vec![(1.0, 2), (2.0, 3)], sum: 10.0, count: 4 };
        assert_eq!(histogram.reading(), want);
    }
}
