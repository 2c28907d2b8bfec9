use super::*;
use crate::{Executor, block_on};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

/// Echoes every byte until the peer closes.
fn echo_server(connections: usize) -> (SocketAddr, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let threads: Vec<_> = (0..connections)
            .map(|_| {
                let (mut socket, _) = listener.accept().unwrap();
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(n) = socket.read(&mut buffer) {
                        if n == 0 || socket.write_all(&buffer[..n]).is_err() {
                            break;
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
    (address, server)
}

#[test]
fn many_streams_of_one_executor_get_their_own_bytes() {
    let (address, server) = echo_server(20);
    let mut executor = Executor::new().unwrap();
    for task in 0..20u32 {
        executor.spawn(async move {
            let mut stream = Stream::connect_tcp(address).await.unwrap();
            for turn in 0..50u32 {
                let message = (task * 1000 + turn).to_le_bytes();
                stream.send(&message).await.unwrap();
                let mut got = Vec::new();
                let reply = stream
                    .receive(|bytes| {
                        got.extend_from_slice(bytes);
                        (got.len() >= 4).then(|| got.clone())
                    })
                    .await
                    .unwrap();
                assert_eq!(reply, message);
            }
        });
    }
    executor.run().unwrap();
    server.join().unwrap();
}

#[test]
fn megabytes_go_out_and_come_back_whole() {
    let (address, server) = echo_server(1);
    let sent: Vec<u8> = (0..3_000_000u32).map(|i| i as u8).collect();
    let expected = sent.clone();
    let got = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        let mut got = Vec::new();
        for chunk in sent.chunks(50_000) {
            stream.send(chunk).await.unwrap();
            let want = got.len() + chunk.len();
            stream
                .receive(|bytes| {
                    got.extend_from_slice(bytes);
                    (got.len() >= want).then_some(())
                })
                .await
                .unwrap();
        }
        got
    })
    .unwrap();
    assert!(got == expected);
    server.join().unwrap();
}

#[test]
fn an_end_that_came_with_the_last_bytes_is_seen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sent, closed) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"last words").unwrap();
        drop(socket);
        sent.send(()).unwrap();
    });
    let ended = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        // The poller hears of the bytes and of the end at once.
        closed.recv().unwrap();
        let mut got = 0;
        let wait = stream.receive(|bytes| {
            got += bytes.len();
            None::<()>
        });
        let ended = crate::timeout(std::time::Duration::from_secs(5), wait).await;
        (ended, got)
    });
    let (ended, got) = ended.unwrap();
    let kind = ended.map(|end| end.unwrap_err().kind());
    assert_eq!((kind, got), (Ok(io::ErrorKind::UnexpectedEof), 10));
    server.join().unwrap();
}

#[test]
fn a_closed_port_is_refused_and_a_closed_peer_is_an_end() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let refused = block_on(async move { Stream::connect_tcp(free).await.map(|_| ()) }).unwrap();
    assert_eq!(
        refused.unwrap_err().kind(),
        io::ErrorKind::ConnectionRefused
    );

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let ended = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.receive(|_| Some(())).await
    });
    assert_eq!(
        ended.unwrap().unwrap_err().kind(),
        io::ErrorKind::UnexpectedEof
    );
    server.join().unwrap();
}

/// Sends a byte and waits for its echo.
async fn echo(stream: &mut Stream) -> io::Result<()> {
    stream.send(b"x").await?;
    stream.receive(|_| Some(())).await
}

#[test]
fn what_is_sent_before_an_answer_is_one_round_trip() {
    let (address, server) = echo_server(1);
    const PIECES: usize = 50;
    let counted = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        for _ in 0..3 {
            echo(&mut stream).await.unwrap();
        }
        let each = stream.take_round_trips();
        for _ in 0..PIECES {
            stream.send(b"piece").await.unwrap();
        }
        let mut got = 0;
        stream
            .receive(|bytes| {
                got += bytes.len();
                (got == 5 * PIECES).then_some(())
            })
            .await
            .unwrap();
        let together = stream.take_round_trips();
        (each, together, stream.take_round_trips())
    });
    assert_eq!(counted.unwrap(), (3, 1, 0));
    server.join().unwrap();
}

#[test]
fn every_round_trip_takes_the_injected_time() {
    let (address, server) = echo_server(1);
    const PIECES: usize = 500;
    let rtt = Duration::from_millis(20);
    let taken = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.inject_rtt(rtt);
        let begun = Instant::now();
        for _ in 0..5 {
            echo(&mut stream).await.unwrap();
        }
        let round_trips = begun.elapsed();
        let begun = Instant::now();
        // Pieces without an answer between them are one trip.
        for _ in 0..PIECES {
            stream.send(b"piece").await.unwrap();
        }
        let mut got = 0;
        stream
            .receive(|bytes| {
                got += bytes.len();
                (got == 5 * PIECES).then_some(())
            })
            .await
            .unwrap();
        (round_trips, begun.elapsed())
    })
    .unwrap();
    assert!(taken.0 >= rtt * 5, "{taken:?}");
    // As a trip each they would take ten seconds.
    assert!(
        taken.1 >= rtt && taken.1 < rtt * PIECES as u32 / 2,
        "{taken:?}"
    );
    server.join().unwrap();
}

/// Answers nothing.
fn silent_server() -> (SocketAddr, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        while socket.read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
    });
    (address, server)
}

#[test]
fn an_exchange_that_is_not_answered_is_overdue() {
    let (address, server) = silent_server();
    let limit = Duration::from_millis(60);
    let (taken, error, overdue) = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.limit_exchanges(Some(limit));
        let begun = Instant::now();
        stream.begin_exchange();
        let error = echo(&mut stream).await.unwrap_err().kind();
        (begun.elapsed(), error, stream.is_overdue())
    })
    .unwrap();
    assert_eq!((error, overdue), (io::ErrorKind::TimedOut, true));
    assert!(taken >= limit - Duration::from_millis(10), "{taken:?}");
    assert!(taken < limit * 100, "{taken:?}");
    server.join().unwrap();
}

#[test]
fn a_limit_counts_from_its_own_exchange_and_not_between_two() {
    let (address, server) = echo_server(1);
    block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.limit_exchanges(Some(Duration::from_millis(600)));
        // The timer set by the first exchange goes off while others are on their way.
        for _ in 0..8 {
            stream.begin_exchange();
            echo(&mut stream).await.unwrap();
            stream.end_exchange();
            crate::sleep(Duration::from_millis(160)).await;
        }
        // Nothing is awaited under the limit here.
        let silence = stream.receive(|_| Some(()));
        let silence = crate::timeout(Duration::from_millis(900), silence).await;
        assert!(silence.is_err() && !stream.is_overdue());
    })
    .unwrap();
    server.join().unwrap();
}

/// Sends as fast as it can.
fn flood() -> (SocketAddr, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        while socket.write_all(&[7; 1 << 20]).is_ok() {}
    });
    (address, server)
}

/// Takes longer than the flood needs to fill the socket again.
fn slowly(_: &[u8]) -> Option<()> {
    std::thread::sleep(Duration::from_millis(2));
    None
}

#[test]
fn a_flood_does_not_keep_the_thread() {
    let (address, server) = flood();
    let ended = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        crate::timeout(Duration::from_millis(50), stream.receive(slowly)).await
    });
    assert!(ended.unwrap().is_err());
    server.join().unwrap();
}

/// As a handshake is read.
#[test]
fn a_flood_that_is_received_message_by_message_does_not_keep_the_thread_either() {
    let (address, server) = flood();
    let ended = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        let messages = async {
            loop {
                stream
                    .receive(|bytes| slowly(bytes).or(Some(())))
                    .await
                    .unwrap();
            }
        };
        crate::timeout::<()>(Duration::from_millis(50), messages).await
    });
    assert!(ended.unwrap().is_err());
    server.join().unwrap();
}

#[test]
fn an_exchange_with_a_flood_is_overdue_in_time() {
    let (address, server) = flood();
    let ended = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.limit_exchanges(Some(Duration::from_millis(50)));
        stream.begin_exchange();
        let received = stream.receive(slowly).await;
        (received.unwrap_err().kind(), stream.is_overdue())
    });
    assert_eq!(ended.unwrap(), (io::ErrorKind::TimedOut, true));
    server.join().unwrap();
}

/// The first byte comes at once, the second after longer than a read may hold up the thread, the
/// third with it: each way of a read to end.
#[test]
fn a_read_in_place_gives_the_executor_its_turn() {
    const HELD: Duration = Duration::from_millis(100);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (begin, begun_exchange) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"a").unwrap();
        begun_exchange.recv().unwrap();
        std::thread::sleep(HELD * 5);
        socket.write_all(b"bc").unwrap();
        let mut asked = [0; 1];
        socket.read_exact(&mut asked).unwrap();
    });
    let begun = Instant::now();
    let mut executor = Executor::new().unwrap();
    let turned = std::rc::Rc::new(std::cell::Cell::new(None));
    let turn = std::rc::Rc::clone(&turned);
    executor.spawn(async move {
        crate::sleep(Duration::from_millis(1)).await;
        turn.set(Some(begun.elapsed()));
    });
    executor.spawn(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.wait_in_place(HELD).unwrap();
        stream.begin_exchange();
        begin.send(()).unwrap();
        let mut got = Vec::new();
        stream
            .receive(|bytes| {
                got.extend_from_slice(bytes);
                (got.len() == 3).then_some(())
            })
            .await
            .unwrap();
        assert_eq!(got, b"abc");
        // Said by the turn, and taken back by the read: or the next wait would be none.
        assert!(!stream.is_readable());
        assert!(begun.elapsed() >= HELD * 5);
        stream.end_exchange();
        assert!(stream.take_away_time() >= HELD * 5);
        assert_eq!(stream.take_away_time(), Duration::ZERO);
        stream.send(b"d").await.unwrap();
    });
    executor.run().unwrap();
    server.join().unwrap();
    // The task beside it had its turn before the peer spoke again.
    assert!(turned.get().unwrap() < HELD * 5, "{turned:?}");
}

#[test]
fn what_fills_the_buffer_gets_a_larger_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sent = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(&vec![7; 1 << 20]).unwrap();
    });
    let pieces = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        let (mut pieces, mut got) = (Vec::new(), 0);
        stream
            .receive(|bytes| {
                got += bytes.len();
                pieces.push(bytes.len());
                (got == 1 << 20).then_some(())
            })
            .await
            .unwrap();
        pieces
    })
    .unwrap();
    sent.join().unwrap();
    // A session with short replies holds the little that it began with.
    assert!(pieces[0] <= 4 * 1024, "{pieces:?}");
    let largest = pieces.iter().max().unwrap();
    assert!((16 * 1024..=64 * 1024).contains(largest), "{pieces:?}");
}

/// Receives what `pieces` send, each but the first some time after the one before; what was handed
/// over at a time, and how it ended.
fn handed_over(
    pieces: &'static [&'static str],
    least: usize,
    in_place: bool,
) -> (Vec<String>, io::Result<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_nodelay(true).unwrap();
        socket.read_exact(&mut [0; 3]).unwrap();
        for piece in pieces {
            socket.write_all(piece.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(30));
        }
    });
    let got = block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        if in_place {
            stream.wait_in_place(Duration::from_millis(50)).unwrap();
        }
        stream.expect(least);
        stream.send(b"ask").await.unwrap();
        let mut got = Vec::new();
        let ended = stream
            .receive(|bytes| {
                got.push(String::from_utf8(bytes.to_vec()).unwrap());
                bytes.contains(&b'.').then_some(())
            })
            .await;
        (got, ended)
    });
    server.join().unwrap();
    got.unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_is_woken_for_less_than_is_expected() {
    for in_place in [false, true] {
        let (got, ended) = handed_over(&["one ", "two ", "three."], 9, in_place);
        assert_eq!(got, ["one two three."], "{in_place}");
        ended.unwrap();
        // What comes after that is told at once, however little it is.
        let (got, ended) = handed_over(&["one ", "two ", "a", "."], 8, in_place);
        assert_eq!(got, ["one two ", "a", "."], "{in_place}");
        ended.unwrap();
    }
}

/// Longer than a read may hold up the thread, too.
#[test]
fn who_expects_more_than_comes_hears_the_end() {
    for in_place in [false, true] {
        let (got, ended) = handed_over(&["one ", "two ", "", "", ""], 100, in_place);
        assert_eq!(got.concat(), "one two ", "{in_place}");
        let error = ended.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{in_place}");
    }
}

/// More than both ends' buffers take.
const MUCH: usize = 32 << 20;

fn much() -> Vec<u8> {
    (0..MUCH).map(|at| at as u8).collect()
}

/// Reads nothing until it is told to, then all of [`much`], and says so.
fn reads_when_told() -> (
    SocketAddr,
    std::sync::mpsc::Sender<()>,
    std::thread::JoinHandle<()>,
) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        told.recv().unwrap();
        let mut bytes = vec![0; MUCH];
        socket.read_exact(&mut bytes).unwrap();
        assert!(bytes.iter().enumerate().all(|(at, b)| *b == at as u8));
        socket.write_all(b"ok").unwrap();
    });
    (address, tell, server)
}

#[test]
fn what_is_not_done_at_once_is_waited_for() {
    let (address, read, server) = reads_when_told();
    block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        let bytes = much();
        let Sent::Part(sent) = stream.send_now(&bytes).unwrap() else {
            panic!("{MUCH} bytes were sent and nobody reads");
        };
        assert!((1..MUCH).contains(&sent), "{sent}");
        read.send(()).unwrap();
        stream.send_rest(&bytes[sent..]).await.unwrap();
        let mut came = Vec::new();
        let mut take = |bytes: &[u8]| {
            came.extend_from_slice(bytes);
            (came.len() == 2).then_some(())
        };
        match stream.receive_now(&mut take).unwrap() {
            Received::Done(()) => {}
            Received::Waits(wait) => stream.receive_rest(wait, &mut take).await.unwrap(),
        }
        assert_eq!(came, b"ok");
    })
    .unwrap();
    server.join().unwrap();
}

#[test]
fn nothing_is_received_at_once_where_nothing_came() {
    let (address, server) = silent_server();
    block_on(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        let received = stream.receive_now(|_| Some(())).unwrap();
        assert!(matches!(received, Received::Waits(_)), "{received:?}");
    })
    .unwrap();
    server.join().unwrap();
}

#[test]
fn a_send_in_place_gives_the_executor_its_turn() {
    let (address, read, server) = reads_when_told();
    let mut executor = Executor::new().unwrap();
    executor.spawn(async move {
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        stream.wait_in_place(Duration::from_millis(20)).unwrap();
        stream.send(&much()).await.unwrap();
        stream.receive(|_| Some(())).await.unwrap();
    });
    // The peer reads when this one had its turn.
    executor.spawn(async move {
        crate::sleep(Duration::from_millis(50)).await;
        read.send(()).unwrap();
    });
    executor.run().unwrap();
    server.join().unwrap();
}
