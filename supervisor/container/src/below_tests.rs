use super::*;
use crate::plan::Access;

fn bind(path: &str) -> (PathBuf, Mount) {
    let source = Source::Host(path.into());
    let access = Access::ReadOnly;
    (path.into(), Mount::Bind { source, access })
}

fn paths(list: &[&str]) -> BTreeSet<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

fn view(mounted: &[&str]) -> View {
    let harmless = BTreeSet::new();
    let mounted = paths(mounted);
    View { mounted, harmless }
}

#[test]
fn a_tree_with_nothing_mounted_below_is_bound_alone() {
    let mounts = [bind("/usr"), bind("/srv/app")].into();
    let mounted = view(&["/", "/usr", "/srv", "/srv/application"]);
    assert_eq!(whole(&mounts, &mounted, &|_| false), Ok(BTreeSet::new()));
}

#[test]
fn what_the_plan_covers_may_come_with_a_tree() {
    let mounts = [bind("/srv"), bind("/srv/disk")].into();
    let mounted = view(&["/srv/disk", "/srv/disk/below"]);
    let both = paths(&["/srv", "/srv/disk"]);
    assert_eq!(whole(&mounts, &mounted, &|path| path.ends_with("below")), Ok(both));
}

#[test]
fn what_nobody_covers_is_refused_unless_it_is_closed_to_the_user() {
    let mounts = [bind("/var")].into();
    let mounted = view(&["/var/lib/old"]);
    let refused = whole(&mounts, &mounted, &|_| false).unwrap_err();
    assert!(refused.contains("`/var/lib/old`"), "{refused}");
    assert_eq!(whole(&mounts, &mounted, &|_| true), Ok(paths(&["/var"])));
    let harmless = View {
        harmless: paths(&["/var/lib/old"]),
        ..mounted
    };
    assert_eq!(whole(&mounts, &harmless, &|_| false), Ok(paths(&["/var"])));
}
