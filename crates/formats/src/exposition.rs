//! Prometheus' text format for metrics, as Go's client writes it.

mod histogram;

use std::fmt::Write as _;

pub use self::histogram::Histogram;

/// All measurements under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Name, with unit and `_total` according to Prometheus' conventions.
    pub name: &'static str,
    /// One sentence for humans.
    pub help: &'static str,
    /// Type of the metric.
    pub kind: Kind,
    /// One measurement for each combination of labels.
    pub samples: Vec<Sample>,
}

/// Type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts in buckets.
    Histogram,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Label names and values, in order of the names.
    pub labels: Vec<(&'static str, String)>,
    /// Its value.
    pub reading: Reading,
}

/// The value of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A counter or gauge.
    Number(f64),
    /// A histogram.
    Distribution {
        /// Upper bound of each bucket, ascending, and the number of values at or below it; `+Inf` is implied.
        buckets: Vec<(f64, u64)>,
        /// Sum of all values.
        sum: f64,
        /// Number of values.
        count: u64,
    },
}

impl Family {
    /// A counter or gauge without labels.
    #[must_use]
    pub fn single(name: &'static str, help: &'static str, kind: Kind, value: f64) -> Self {
        Self {
            name,
            help,
            kind,
            samples: vec![Sample { labels: Vec::new(), reading: Reading::Number(value) }],
        }
    }
}

/// Content type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes families sorted by name; families without a measurement are omitted.
#[must_use]
pub fn encode(mut families: Vec<Family>) -> String {
    families.sort_by(|a, b| a.name.cmp(b.name));
    let mut out = String::new();
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
        write_line(&mut out, format_args!("# HELP {} {help}", family.name));
        write_line(&mut out, format_args!("# TYPE {} {kind}", family.name));
        for sample in &family.samples {
            write_sample(&mut out, family.name, sample);
        }
    }
    out
}

/// Formats a number as Go does: in its shortest form, with an exponent from a million on and below a ten-thousandth.
#[must_use]
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn write_sample(out: &mut String, name: &str, sample: &Sample) {
    match &sample.reading {
        Reading::Number(value) => {
            write_line(out, format_args!("{name}{} {}", format_labels(sample, None), number(*value)));
        }
        Reading::Distribution { buckets, sum, count } => {
            let infinity = (f64::INFINITY, *count);
            for (bound, at_most) in buckets.iter().chain([&infinity]) {
                let bound = number(*bound);
                write_line(
                    out,
                    format_args!("{name}_bucket{} {at_most}", format_labels(sample, Some(&bound))),
                );
            }
            write_line(out, format_args!("{name}_sum{} {}", format_labels(sample, None), number(*sum)));
            write_line(out, format_args!("{name}_count{} {count}", format_labels(sample, None)));
        }
    }
}

fn format_labels(sample: &Sample, bound: Option<&str>) -> String {
    let own = sample.labels.iter().map(|(name, value)| (*name, value.as_str()));
    let pairs: Vec<String> = own
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("{name}=\"{value}\"")
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

fn write_line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_go_formats_them() {
        let table = [
            (0.0, "0"),
            (1.0, "1"),
            (0.005, "0.005"),
            (2.5, "2.5"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.234567e+06"),
            (47_284_224.0, "4.7284224e+07"),
            (0.000_1, "0.0001"),
            (0.000_012, "1.2e-05"),
            (-3.0, "-3"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in table {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn families_are_sorted_and_escaped() {
        let up = Family {
            name: "b_total",
            help: "Many\nlines.",
            kind: Kind::Counter,
            samples: vec![Sample {
                labels: vec![("code", "200".to_owned()), ("path", "a\"b\\".to_owned())],
                reading: Reading::Number(3.0),
            }],
        };
        let latency = Family {
            name: "a_seconds",
            help: "How long.",
            kind: Kind::Histogram,
            samples: vec![Sample {
                labels: vec![("webhook", "/x".to_owned())],
                reading: Reading::Distribution { buckets: vec![(0.5, 1), (1.0, 2)], sum: 3.75, count: 4 },
            }],
        };
        let empty = Family { name: "c", help: "", kind: Kind::Gauge, samples: Vec::new() };
        assert_eq!(
            encode(vec![up, empty, latency]),
            "# HELP a_seconds How long.\n\
             # TYPE a_seconds histogram\n\
             a_seconds_bucket{webhook=\"/x\",le=\"0.5\"} 1\n\
             a_seconds_bucket{webhook=\"/x\",le=\"1\"} 2\n\
             a_seconds_bucket{webhook=\"/x\",le=\"+Inf\"} 4\n\
             a_seconds_sum{webhook=\"/x\"} 3.75\n\
             a_seconds_count{webhook=\"/x\"} 4\n\
             # HELP b_total Many\\nlines.\n\
             # TYPE b_total counter\n\
             b_total{code=\"200\",path=\"a\\\"b\\\\\"} 3\n"
        );
    }
}
