use super::*;

#[test]
fn every_built_in_profile_is_found_by_each_of_its_names() {
    for (name, text) in BUILTIN {
        let profile: AgentProfile = serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(profile.name, name);
        assert_eq!(profile.commands, [name]);
        assert_eq!(called(&Path::new("/any/where").join(name)), Some(profile));
    }
    assert_eq!(called(Path::new("/usr/bin/codex-helper")), None);
}

#[test]
fn no_profile_sets_what_makes_programs_run_code() {
    for (name, text) in BUILTIN {
        let profile: AgentProfile = serde_saphyr::from_str(text).unwrap();
        for variable in profile.env {
            let injects = glee_policy::injection::is_injection(variable.name.as_bytes());
            assert!(!injects, "{name}: {}", variable.name);
        }
    }
}
