use super::*;

#[test]
fn what_waits_in_netlink_is_read_and_every_socket_of_a_process_counts() {
    let head = "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode";
    assert_eq!(netlink(head), None);
    let of = |number: u32, unread: u64| {
        netlink(&format!(
            "0000000099347e2c 0   {number:<10} 00000000 {unread:<8} 0        0     2        0        1820247 "
        ))
    };
    assert_eq!(of(0, 0), Some(0));
    assert_eq!(of(0, 7), Some(7));
    assert_eq!(of(4_294_965_000, 200_000), Some(200_000 + SOCKET));
}

#[test]
fn only_connections_that_no_process_has_are_counted() {
    let line = |state: &str, inode: u32| {
        let queues = "00000010:00010000";
        format!(
            "   1: 0100007F:B1A2 0100007F:0050 {state} {queues} 00:00000000 00000000     0        0 {inode} 1 0000 20 4 30 10 -1"
        )
    };
    let counted = |state, inode| unaccepted(&line(state, inode));
    assert_eq!(counted("01", 0), Some(SOCKET + 0x10 + 0x10000));
    assert_eq!(counted("08", 0), Some(SOCKET + 0x10 + 0x10000));
    assert_eq!(counted("01", 77), None);
    assert_eq!([counted("05", 0), counted("06", 0), counted("0A", 0)], [None; 3]);
    assert_eq!(
        unaccepted("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"),
        None
    );
}

#[test]
fn sockets_in_use_are_those_of_either_family() {
    let table = "sockets: used 3\nTCP: inuse 12 orphan 0 tw 0 alloc 3 mem 0\nUDP: inuse 0 mem 0\n";
    assert_eq!(in_use(table), Some(12));
    assert_eq!(in_use("TCP6: inuse 4\nUDP6: inuse 0\n"), Some(4));
    assert_eq!(in_use(""), None);
}

#[test]
fn sockets_that_no_table_shows_are_all_but_those_of_counted_protocols() {
    assert_eq!(
        used("sockets: used 312\nTCP: inuse 12 orphan 0 tw 0 alloc 3 mem 0\n"),
        Some(312)
    );
    assert_eq!(used("TCP: inuse 12\n"), None);
    let table = "protocol  size sockets  memory press maxhdr  slab module     cl co di\n\
                 UDPv6     1472     17       0   NI       0   yes  kernel      y  y  y\n\
                 TCPv6     2432      2       0   no     192   yes  kernel      y  y  y\n\
                 UNIX-STREAM 1152   30      -1   NI       0   yes  kernel      y  n  n\n\
                 UNIX      1152    400      -1   NI       0   yes  kernel      y  n  n\n\
                 UDP       1344     99       0   NI       0   yes  kernel      y  y  y\n\
                 TCP       2304   5000       0   no     192   yes  kernel      y  y  y\n\
                 NETLINK   1096  60000      -1   NI       0   no   kernel      n  n  n\n";
    assert_eq!(elsewhere(table), 65_432);
    assert_eq!(elsewhere(""), 0);
}

#[test]
fn locks_are_ours_by_their_process_or_by_their_file() {
    let locks = Locks {
        list: File::open("/proc/locks").unwrap(),
        private: "00:2a:".to_owned(),
        rest: Instant::now(),
    };
    let is_ours = |line| locks.is_ours(line);
    assert!(is_ours("1: POSIX  ADVISORY  WRITE 12 08:01:99 0 EOF"));
    assert!(is_ours("1: -> FLOCK  ADVISORY  WRITE 12 08:01:99 0 EOF"));
    assert!(is_ours("2: OFDLCK ADVISORY  WRITE -1 00:2a:7 2 2"));
    assert!(!is_ours("2: OFDLCK ADVISORY  WRITE -1 00:2ab:7 2 2"));
    assert!(!is_ours("2: OFDLCK ADVISORY  READ -1 08:01:99 0 0"));
    assert!(!is_ours(""));
}
