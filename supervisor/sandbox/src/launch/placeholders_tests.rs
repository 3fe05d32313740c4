use super::*;

#[test]
fn placeholder_that_had_no_room_is_still_ours() {
    let dir = std::env::temp_dir().join(format!("glee-no-room-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let held = path::open_dir_exact(&fs::canonicalize(&dir).unwrap()).unwrap();
    let (name, kind) = (OsStr::new("commondir"), PlaceholderKind::CommonDir);
    let mut seen = Vec::new();
    for text in ["", ".", ".\n", "..\n"] {
        drop(
            path::create_at(held.as_fd(), Path::new(name), 0o444).map(|file| fd::write(file.as_fd(), text.as_bytes())),
        );
        seen.push(is_ours(held.as_fd(), name, kind));
        fs::remove_file(dir.join(name)).unwrap();
    }
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(seen, [true, true, true, false]);
}

#[test]
fn socket_to_which_somebody_may_connect_is_not_ours() {
    let dir = std::env::temp_dir().join(format!("glee-modes-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let held = path::open_dir_exact(&fs::canonicalize(&dir).unwrap()).unwrap();
    let name = OsStr::new(".envrc");
    let mut seen = Vec::new();
    for (kind, mode) in [
        (PlaceholderKind::Socket, None),
        (PlaceholderKind::Shut, None),
        (PlaceholderKind::Socket, Some(0o400)),
        (PlaceholderKind::Socket, Some(0o644)),
        (PlaceholderKind::Socket, Some(0o755)),
    ] {
        create(held.as_fd(), name, kind, &mut None).unwrap();
        if let Some(mode) = mode {
            path::chmod_at(held.as_fd(), name, mode).unwrap();
        }
        seen.push((
            is_ours(held.as_fd(), name, PlaceholderKind::Socket),
            is_ours(held.as_fd(), name, PlaceholderKind::Shut),
        ));
        fs::remove_file(dir.join(name)).unwrap();
    }
    fs::remove_dir_all(&dir).unwrap();
    let (ours, not) = ((true, true), (false, false));
    assert_eq!(seen, [ours, ours, ours, not, not]);
}
