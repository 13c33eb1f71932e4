//! Benchmarks with large untrusted inputs of 1, 2 and 4 MB: the throughput must not depend on the size.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use formats::{command_line, json, unit, yaml};

/// A text of `megabytes` MB: `head`, then the lines that `line` makes of their numbers.
fn text(megabytes: usize, head: &str, line: impl Fn(usize) -> String) -> String {
    let mut text = head.to_owned();
    for number in 0.. {
        if text.len() >= megabytes << 20 {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

fn benchmark_sizes(
    criterion: &mut Criterion,
    name: &str,
    make: impl Fn(usize) -> String,
    read: impl Fn(&str),
) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for megabytes in [1, 2, 4] {
        let text = make(megabytes);
        group.throughput(Throughput::Bytes(u64::try_from(text.len()).unwrap_or_default()));
        let id = BenchmarkId::from_parameter(format!("{megabytes} MB"));
        group.bench_with_input(id, text.as_str(), |bencher, text| bencher.iter(|| read(black_box(text))));
    }
    group.finish();
}

fn large(criterion: &mut Criterion) {
    let keys = |megabytes| text(megabytes, "a:\n", |number| format!("  k{number}: v\n"));
    benchmark_sizes(criterion, "manifest of keys", keys, |text| drop(yaml::first_document(text.as_bytes())));
    benchmark_sizes(criterion, "file of keys", keys, |text| drop(yaml::parse(text)));
    let letters = |megabytes| text(megabytes, "a:\n", |_| "- a\n".to_owned());
    benchmark_sizes(criterion, "manifest of a list", letters, |text| {
        drop(yaml::first_document(text.as_bytes()));
    });
    let quoted = |megabytes| text(megabytes, "a: \"", |_| "b\n\n  c\\\n  d ".to_owned()) + "\"\n";
    benchmark_sizes(criterion, "manifest of a text", quoted, |text| {
        drop(yaml::first_document(text.as_bytes()));
    });
    let flow = |megabytes| text(megabytes, "a: [", |number| format!("{{k{number}: v}},\n")) + "]\n";
    benchmark_sizes(criterion, "manifest in brackets", flow, |text| {
        drop(yaml::first_document(text.as_bytes()));
    });
    let stream = |megabytes| text(megabytes, "", |number| format!("{{\"k{number}\": \"v\"}}\n"));
    benchmark_sizes(criterion, "stream of JSON", stream, |text| {
        json::Stream::new(text.as_bytes()).for_each(drop);
    });
    let sections = |megabytes| text(megabytes, "", |number| format!("[S{number}]\nA=b\n"));
    benchmark_sizes(criterion, "unit of sections", sections, |text| {
        drop(unit::options(text).map(|options| unit::write(&options)));
    });
    let flags = |megabytes| text(megabytes, "/opt/bin/kubelet", |number| format!(" --f{number}=v"));
    benchmark_sizes(criterion, "line of flags", flags, |text| {
        drop(command_line::flags(&command_line::words(text)));
    });
}

criterion_group!(benches, large);
criterion_main!(benches);
