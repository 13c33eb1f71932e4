//! The spec of a ManagedSeed, or of a template of ManagedSeeds.

use api::garden::managed_seed::{Gardenlet, ManagedSeedShoot, ManagedSeedSpec};
use api::gardenlet::GardenletConfiguration;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{FieldErrors, immutable, supported};
use super::go_value::GoValue;
use super::{gardenlet_configuration, gardenlet_connection, gardenlet_seed, managed_seed_deployment};

const BOOTSTRAPS: [&str; 3] = ["ServiceAccount", "BootstrapToken", "None"];

/// A spec, with the configuration of its gardenlet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec<'a> {
    kind: &'static str,
    shoot: Option<&'a ManagedSeedShoot>,
    gardenlet: Option<(Gardenlet, GardenletConfiguration)>,
}

impl<'a> Spec<'a> {
    /// Reads the spec of an object of this kind.
    ///
    /// # Errors
    /// 400 when the configuration is not that of a gardenlet.
    pub(super) fn read(kind: &'static str, spec: &'a ManagedSeedSpec) -> Result<Self, Rejection> {
        let read = |gardenlet: &Gardenlet| -> Result<_, Rejection> {
            let config = gardenlet_configuration::read(kind, gardenlet.config.as_ref())?;
            Ok((Gardenlet { config: None, ..gardenlet.clone() }, config))
        };
        let gardenlet = spec.gardenlet.as_ref().map(read).transpose()?;
        Ok(Self { kind, shoot: spec.shoot.as_ref(), gardenlet })
    }

    /// The configuration of its gardenlet, if it has one.
    pub(super) fn config(&self) -> Option<&GardenletConfiguration> {
        self.gardenlet.as_ref().map(|(_, config)| config)
    }

    /// Shoot and gardenlet: GDN-MSE-004, GDN-MSE-005. A template names no Shoot.
    ///
    /// # Errors
    /// 400 when an amount is no quantity.
    pub(super) fn validate(&self, at: &Path, in_template: bool) -> Result<FieldErrors, Rejection> {
        let mut errors = FieldErrors::new();
        let at_shoot = at.child("shoot");
        match self.shoot {
            None if !in_template => errors.push(Error::required(&at_shoot, "shoot is required")),
            Some(shoot) if !in_template && shoot.name.is_empty() => {
                errors.push(Error::required(&at_shoot.child("name"), "shoot name is required"));
            }
            _ => {}
        }
        let at = at.child("gardenlet");
        match &self.gardenlet {
            None => errors.push(Error::required(&at, "gardenlet is required")),
            Some((gardenlet, config)) => errors.extend(self.validate_gardenlet(gardenlet, config, &at)?),
        }
        Ok(errors)
    }

    /// Deployment, configuration and credentials: GDN-MSE-006, GDN-MSE-007.
    fn validate_gardenlet(
        &self,
        gardenlet: &Gardenlet,
        config: &GardenletConfiguration,
        at: &Path,
    ) -> Result<FieldErrors, Rejection> {
        let mut errors = FieldErrors::new();
        if let Some(deployment) = &gardenlet.deployment {
            errors.extend(managed_seed_deployment::validate(deployment, &at.child("deployment")));
        }
        let at_config = at.child("config");
        let seed = config.seed_config.as_ref();
        if seed.and_then(|seed| seed.metadata.name.as_ref()).is_some_and(|name| !name.is_empty()) {
            let at = at_config.child("seedConfig").child("metadata").child("name");
            errors.push(Error::forbidden(&at, "seed name is forbidden"));
        }
        errors.extend(gardenlet_configuration::validate(self.kind, config, &at_config)?);
        let bootstrap = gardenlet.bootstrap.as_deref();
        if let Some(connection) = &config.garden_client_connection {
            let is_merged = gardenlet.merge_with_parent.unwrap_or_default();
            errors.extend(gardenlet_connection::validate(
                connection,
                bootstrap.unwrap_or("None"),
                is_merged,
                &at_config.child("gardenClientConnection"),
            ));
        }
        let at = at.child("bootstrap");
        errors.extend(bootstrap.and_then(|bootstrap| supported(&at, bootstrap, &BOOTSTRAPS)));
        Ok(errors)
    }

    /// What an update may not change: GDN-MSE-008, GDN-MSE-009.
    pub(super) fn validate_update(&self, old: &Self, at: &Path) -> FieldErrors {
        let shoot = |spec: &Self| {
            let fields = |shoot: &ManagedSeedShoot| vec![("Name", GoValue::text(&shoot.name))];
            let shoot = spec.shoot.map(|shoot| GoValue::Struct("seedmanagement.Shoot", fields(shoot)));
            GoValue::pointer("seedmanagement.Shoot", shoot)
        };
        let mut errors = FieldErrors::new();
        errors.extend(immutable(&at.child("shoot"), &shoot(self), &shoot(old)));
        let (Some((new, config)), Some((old, before))) = (&self.gardenlet, &old.gardenlet) else {
            return errors;
        };
        let at = at.child("gardenlet");
        if let (Some(new), Some(old)) = (&config.seed_config, &before.seed_config) {
            errors.extend(gardenlet_seed::validate_update(new, old, &at.child("config").child("seedConfig")));
        }
        let bootstrap = |gardenlet: &Gardenlet| {
            GoValue::pointer("seedmanagement.Bootstrap", gardenlet.bootstrap.as_ref().map(GoValue::text))
        };
        let is_merged =
            |gardenlet: &Gardenlet| GoValue::pointer("bool", gardenlet.merge_with_parent.map(GoValue::Bool));
        errors.extend(immutable(&at.child("bootstrap"), &bootstrap(new), &bootstrap(old)));
        errors.extend(immutable(&at.child("mergeWithParent"), &is_merged(new), &is_merged(old)));
        errors
    }
}
