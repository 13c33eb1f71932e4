//! The registry of measurements: it calls its collectors at every scrape.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::fs;

use formats::exposition::{self, Family, Kind};

use crate::clock::Clock;

type Collector = Box<dyn Fn() -> Vec<Family> + Send + Sync>;

/// All measurements of a process.
#[derive(Default)]
pub struct Registry {
    collectors: Vec<Collector>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("collectors", &self.collectors.len()).finish()
    }
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a collector.
    pub fn register(&mut self, collector: impl Fn() -> Vec<Family> + Send + Sync + 'static) {
        self.collectors.push(Box::new(collector));
    }

    /// All measurements, in Prometheus' text format.
    #[must_use]
    pub fn encode(&self) -> String {
        exposition::encode(merged(self.collectors.iter().flat_map(|collect| collect())))
    }
}

/// Merges families of one name: each controller has the same metrics.
fn merged(families: impl Iterator<Item = Family>) -> Vec<Family> {
    let mut by_name: BTreeMap<&'static str, Family> = BTreeMap::new();
    for family in families {
        match by_name.entry(family.name) {
            Entry::Vacant(free) => {
                free.insert(family);
            }
            Entry::Occupied(known) => known.into_mut().samples.extend(family.samples),
        }
    }
    by_name.into_values().collect()
}

/// Measures the process itself, as Go's client does; without `/proc`, only the start time.
pub fn process(clock: Clock) -> impl Fn() -> Vec<Family> + Send + Sync {
    let started = clock.since_epoch().as_secs_f64();
    move || {
        let mut families = from_proc(&|path| fs::read_to_string(path).unwrap_or_default());
        families.extend(open_files());
        let help = "Start time of the process since unix epoch in seconds.";
        families.push(gauge("process_start_time_seconds", help, started));
        families
    }
}

/// Counts reads of certificates, as `(reads, failed reads)`.
pub fn certificates(counts: impl Fn() -> (u64, u64) + Send + Sync) -> impl Fn() -> Vec<Family> + Send + Sync {
    move || {
        let (reads, errors) = counts();
        [
            ("certwatcher_read_certificate_total", "Total number of certificate reads", reads),
            ("certwatcher_read_certificate_errors_total", "Total number of certificate read errors", errors),
        ]
        .map(|(name, help, count)| Family::single(name, help, Kind::Counter, float(count)))
        .into()
    }
}

/// Clock ticks per second in `/proc`, the same on every relevant Linux.
const TICKS: f64 = 100.0;

fn from_proc(read: &dyn Fn(&str) -> String) -> Vec<Family> {
    let status = read("/proc/self/status");
    let kibibytes = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|number| number * 1024.0)
    };
    let limits = read("/proc/self/limits");
    let limit = |name: &str| {
        let soft = limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?;
        // Go shows the largest number for "unlimited".
        if soft == "unlimited" { Some(float(u64::MAX)) } else { soft.parse().ok() }
    };
    let measured = [
        ("process_resident_memory_bytes", "Resident memory size in bytes.", kibibytes("VmRSS:")),
        ("process_virtual_memory_bytes", "Virtual memory size in bytes.", kibibytes("VmSize:")),
        (
            "process_virtual_memory_max_bytes",
            "Maximum amount of virtual memory available in bytes.",
            limit("Max address space"),
        ),
        ("process_max_fds", "Maximum number of open file descriptors.", limit("Max open files")),
    ];
    let mut families: Vec<Family> = measured
        .into_iter()
        .filter_map(|(name, help, value)| value.map(|value| gauge(name, help, value)))
        .collect();
    if let Some(seconds) = cpu_seconds(&read("/proc/self/stat")) {
        let help = "Total user and system CPU time spent in seconds.";
        families.push(Family::single("process_cpu_seconds_total", help, Kind::Counter, seconds));
    }
    families
}

/// User and system time: fields 14 and 15, counted after the name, which may contain blanks.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS)
}

fn open_files() -> Option<Family> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    Some(gauge("process_open_fds", "Number of open file descriptors.", float(count as u64)))
}

fn gauge(name: &'static str, help: &'static str, value: f64) -> Family {
    Family::single(name, help, Kind::Gauge, value)
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use formats::exposition::{Reading, Sample};

    use super::*;

    #[test]
    fn the_process_is_measured_from_proc() {
        let read = |path: &str| {
            match path {
                "/proc/self/status" => "Name:\tx\nVmSize:\t    2048 kB\nVmRSS:\t     512 kB\n",
                "/proc/self/limits" => {
                    "Limit                     Soft Limit           Hard Limit           Units\n\
                     Max open files            1024                 4096                 files\n\
                     Max address space         unlimited            unlimited            bytes\n"
                }
                "/proc/self/stat" => {
                    "7 (a b) c) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 1000 2048 128"
                }
                _ => "",
            }
            .to_owned()
        };
        let text = exposition::encode(from_proc(&read));
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let want = [
            "process_cpu_seconds_total 2",
            "process_max_fds 1024",
            "process_resident_memory_bytes 524288",
            "process_virtual_memory_bytes 2.097152e+06",
            "process_virtual_memory_max_bytes 1.8446744073709552e+19",
        ];
        assert_eq!(values, want);
        assert_eq!(from_proc(&|_| String::new()), Vec::new());
    }

    #[test]
    fn families_of_one_name_are_merged() {
        let of = |controller: &'static str| {
            move || {
                let labels = vec![("controller", controller.to_owned())];
                let samples = vec![Sample { labels, reading: Reading::Number(1.0) }];
                vec![Family { name: "workers", help: "Workers.", kind: Kind::Gauge, samples }]
            }
        };
        let mut registry = Registry::new();
        registry.register(of("a"));
        registry.register(of("b"));
        let want = "# HELP workers Workers.\n# TYPE workers gauge\nworkers{controller=\"a\"} 1\nworkers{controller=\"b\"} 1\n";
        assert_eq!(registry.encode(), want);
    }

    #[test]
    fn collectors_run_at_every_scrape() {
        let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(1));
        let mut registry = Registry::new();
        let seen = std::sync::Arc::clone(&count);
        registry.register(certificates(move || (seen.load(std::sync::atomic::Ordering::Relaxed), 0)));
        assert!(registry.encode().contains("\ncertwatcher_read_certificate_total 1\n"));
        count.store(5, std::sync::atomic::Ordering::Relaxed);
        assert!(registry.encode().contains("\ncertwatcher_read_certificate_total 5\n"));
        registry.register(process(Clock::system()));
        assert!(registry.encode().contains("\nprocess_start_time_seconds 1."));
    }
}
