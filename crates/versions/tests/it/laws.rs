//! Property tests of maintenance and admission, over random profiles and shoots; `make laws` runs 100,000 of each.

use api::garden::CloudProfile;
use api::garden::cloud_profile::Classification;
use api::garden::shoot::ShootSpec;
use formats::version::Version;
use proptest::prelude::*;
use serde_json::json;
use versions::admission::admit;
use versions::maintenance::maintain;
use versions::offer::Offered as _;
use versions::update;

use crate::given::{image, image_version, now, pool, profile, shoot};

/// A version from a small range, so that shoots have versions inside and outside of profiles.
fn version() -> impl Strategy<Value = String> {
    (0..7_u8, 0..4_u8).prop_map(|(minor, patch)| format!("1.{}.{patch}", 22 + minor))
}

/// A version in words (`given::version`).
fn offered() -> impl Strategy<Value = String> {
    let state = prop_oneof![Just(""), Just(" preview"), Just(" supported"), Just(" deprecated")];
    let date = prop_oneof![3 => Just(""), 1 => Just(" now"), 2 => Just(" expired"), 1 => Just(" expires")];
    (version(), state, date).prop_map(|(version, state, date)| format!("{version}{state}{date}"))
}

fn profiles() -> impl Strategy<Value = CloudProfile> {
    let versions = || prop::collection::vec(offered(), 0..12);
    (versions(), versions()).prop_map(|(kubernetes, images)| {
        let words: Vec<&str> = kubernetes.iter().map(String::as_str).collect();
        let images = images.iter().map(|words| image_version(words, json!({}))).collect();
        let mut profile = profile(&words, vec![image("linux", images)]);
        let known = &mut profile.spec.kubernetes.versions;
        known.sort_by(|a, b| a.version.cmp(&b.version));
        known.dedup_by(|a, b| a.version == b.version);
        profile
    })
}

fn shoots() -> impl Strategy<Value = ShootSpec> {
    let pools = prop::collection::vec((prop::option::of(version()), version(), 0..3_usize), 0..3);
    let plugin = prop_oneof![Just(None), Just(Some(false)), Just(Some(true))];
    (version(), any::<bool>(), any::<bool>(), pools, plugin).prop_map(|(version, own, images, pools, off)| {
        let auto_update = json!({"kubernetesVersion": own, "machineImageVersion": images});
        let mut spec =
            shoot(json!({"kubernetes": {"version": version}, "maintenance": {"autoUpdate": auto_update}}));
        if let Some(off) = off {
            let plugins = json!([{"name": "PodSecurityPolicy", "disabled": off}]);
            spec.kubernetes.kube_api_server =
                serde_json::from_value(json!({"admissionPlugins": plugins})).expect("given by the test");
        }
        for (at, (version, image, zones)) in pools.into_iter().enumerate() {
            let mut worker = pool(json!({
                "name": format!("pool-{at}"),
                "maximum": 1,
                "zones": (0..zones).collect::<Vec<_>>().iter().map(usize::to_string).collect::<Vec<_>>(),
                "machine": {"image": {"name": "linux", "version": image}},
            }));
            worker.kubernetes = version.map(|version| {
                serde_json::from_value(json!({"version": version})).expect("given by the test")
            });
            spec.provider.workers.push(worker);
        }
        spec
    })
}

/// A partial version: empty, a major, or a major and a minor.
fn partly() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("1".to_owned()), (22..29_u8).prop_map(|minor| format!("1.{minor}"))]
}

fn read(text: &str) -> Version {
    Version::parse(text).expect("given by the test")
}

/// The control plane's version, then each pool's own.
fn own_versions(spec: &ShootSpec) -> Vec<Option<Version>> {
    let pools = spec.provider.workers.iter();
    let pools = pools.map(|pool| pool.kubernetes.as_ref().and_then(|own| own.version.as_deref()).map(read));
    [spec.kubernetes.version.as_deref().map(read)].into_iter().chain(pools).collect()
}

fn images(spec: &ShootSpec) -> Vec<String> {
    let images = spec.provider.workers.iter().filter_map(|pool| pool.machine.image.as_ref());
    images.map(|image| image.version.clone().unwrap_or_default()).collect()
}

fn state<'a>(
    profile: &'a CloudProfile,
    version: &str,
) -> Option<&'a api::garden::cloud_profile::ExpirableVersion> {
    profile.spec.kubernetes.versions.iter().find(|known| known.version == version)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn maintenance_neither_downgrades_nor_skips_a_minor(profile in profiles(), spec in shoots()) {
        let mut after = spec.clone();
        maintain(&mut after, &profile, now()).expect("given by the test");
        // A pool ahead of its control plane, which admission refuses, gets the control plane's version; others are never downgraded.
        let ceiling = own_versions(&after)[0].clone().expect("given by the test");
        for (before, after) in own_versions(&spec).into_iter().zip(own_versions(&after)) {
            let (Some(before), Some(after)) = (before, after) else { continue };
            prop_assert!(after >= before || before > ceiling, "{before} became {after}");
            prop_assert!(after < before.later_minor(2), "{before} became {after}");
        }
        for (before, after) in images(&spec).iter().zip(images(&after)) {
            prop_assert!(read(&after) >= read(before), "{before} became {after}");
        }
    }

    #[test]
    fn maintenance_never_updates_to_a_preview_or_to_an_unknown_version(profile in profiles(), spec in shoots()) {
        let mut after = spec.clone();
        maintain(&mut after, &profile, now()).expect("given by the test");
        let (old, new) = (spec.kubernetes.version.expect("given by the test"), after.kubernetes.version.expect("given by the test"));
        if old != new {
            let known = state(&profile, &new).expect("in the profile");
            prop_assert_ne!(known.classification.as_ref(), Some(&Classification::Preview));
        }
    }

    #[test]
    fn maintenance_updates_to_an_expired_version_only_without_an_alternative(profile in profiles(), spec in shoots()) {
        let mut after = spec.clone();
        maintain(&mut after, &profile, now()).expect("given by the test");
        let new = after.kubernetes.version.expect("given by the test");
        let moved = Some(&new) != spec.kubernetes.version.as_ref();
        if moved && state(&profile, &new).is_some_and(|known| known.is_expired(now())) {
            let better = profile.spec.kubernetes.versions.iter().filter(|known| {
                !known.is_preview() && !known.is_expired(now()) && read(&known.version).is_same_minor(&read(&new))
            });
            prop_assert_eq!(better.count(), 0);
        }
    }

    #[test]
    fn the_order_of_versions_in_a_profile_does_not_matter(profile in profiles(), spec in shoots()) {
        let (mut after, mut other, mut turned) = (spec.clone(), spec, profile.clone());
        turned.spec.kubernetes.versions.reverse();
        let done = maintain(&mut after, &profile, now());
        prop_assert_eq!(&done, &maintain(&mut other, &turned, now()));
        prop_assert_eq!(after, other);
    }

    #[test]
    fn repeated_maintenance_ends(profile in profiles(), spec in shoots()) {
        let mut spec = spec;
        // A minor may take two rounds (pod security policies), and there are seven minors.
        for _ in 0..16 {
            let before = spec.clone();
            let done = maintain(&mut spec, &profile, now()).expect("given by the test");
            if spec == before {
                let version = spec.kubernetes.version.as_deref().expect("given by the test");
                let is_bad = state(&profile, version).is_none_or(|known| known.is_expired(now()));
                let failed = done.failures.iter().any(|failure| matches!(failure, versions::maintenance::Failure::ControlPlane(_)));
                prop_assert_eq!(is_bad, failed, "{} stays expired without a failure, or fails needlessly", version);
                return Ok(());
            }
        }
        prop_assert!(false, "no end: {:?}", own_versions(&spec));
    }

    #[test]
    fn maintenance_reports_every_change(profile in profiles(), spec in shoots()) {
        let mut after = spec.clone();
        let done = maintain(&mut after, &profile, now()).expect("given by the test");
        let silent = done.operations().next().is_none();
        prop_assert!(silent || after != spec || !done.kubernetes.is_empty());
        if done.failures.is_empty() {
            prop_assert_eq!(silent, after == spec, "{:?}", done);
        }
    }

    #[test]
    fn admission_never_fills_in_a_preview_or_an_expired_version(profile in profiles(), spec in shoots(), said in partly()) {
        let mut after = spec;
        after.kubernetes.version = Some(said.clone());
        let refused = admit(&mut after, None, &profile, now());
        let version = after.kubernetes.version.expect("given by the test");
        if refused.is_empty() && version != said {
            let known = state(&profile, &version).expect("in the profile");
            prop_assert!(!known.is_preview() && !known.is_over(now()), "{said} became {version}");
            prop_assert!(version.starts_with(&said), "{said} became {version}");
        }
    }

    #[test]
    fn an_admitted_version_is_offered_and_neither_downgrades_nor_skips_a_minor(profile in profiles(), old in shoots(), new in shoots()) {
        let mut after = new;
        if !admit(&mut after, Some(&old), &profile, now()).is_empty() {
            return Ok(());
        }
        let versions = [&old, &after].map(|spec| spec.kubernetes.version.clone().expect("given by the test"));
        let [before, version] = versions;
        prop_assert!(read(&version) >= read(&before) && read(&version) < read(&before).later_minor(2));
        if version != before {
            prop_assert!(state(&profile, &version).is_some_and(|known| !known.is_over(now())), "{version}");
        }
        prop_assert!(own_versions(&after).into_iter().skip(1).flatten().all(|own| own <= read(&version)));
        let again = admit(&mut after.clone(), Some(&after), &profile, now());
        prop_assert_eq!(again, vec![], "an admitted shoot is admitted again");
    }

    #[test]
    fn admission_refuses_maintenance_only_for_expired_versions_and_pools_behind(profile in profiles(), spec in shoots()) {
        let control_plane = spec.kubernetes.version.clone().expect("given by the test");
        // A pool that admission would have refused before is refused after maintenance too.
        let is_taken = |pool| update::skew(&control_plane, update::effective(&spec, pool)).is_empty();
        if !spec.provider.workers.iter().all(is_taken) {
            return Ok(());
        }
        let mut after = spec.clone();
        maintain(&mut after, &profile, now()).expect("given by the test");
        for (at, refusal) in admit(&mut after, Some(&spec), &profile, now()) {
            let message = refusal.to_string();
            let known = message.starts_with("Unsupported value") || message.contains("minor versions behind control plane");
            prop_assert!(known, "{at}: {message}");
        }
    }
}
