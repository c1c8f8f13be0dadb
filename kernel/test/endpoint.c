// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

#define LONG_WORDS 10

struct party {
    struct endpoint *endpoint;
    uint64_t words;
    char letter;
};

// Adds one to every word and answers, for ever.
static void serve(void *argument)
{
    const struct party *party = argument;
    struct message m;
    int64_t words = endpoint_receive(party->endpoint, &m);
    for (;;) {
        for (int i = 0; i < MESSAGE_REGISTERS; i++)
            m.word[i]++;
        for (int64_t i = MESSAGE_REGISTERS; i < words; i++)
            message_buffer()[i - MESSAGE_REGISTERS]++;
        note(party->letter);
        words = endpoint_reply_receive(party->endpoint, (uint64_t)words, &m);
    }
}

static void call_and_check(struct endpoint *e, uint64_t words)
{
    struct message m = {{1, 2, 3, 4}, 0};
    for (uint64_t i = MESSAGE_REGISTERS; i < words; i++)
        message_buffer()[i - MESSAGE_REGISTERS] = i + 1;
    CHECK_EQUAL(endpoint_call(e, words, &m), words);
    for (uint64_t i = 0; i < MESSAGE_REGISTERS; i++)
        CHECK_EQUAL(m.word[i], i + 2);
    for (uint64_t i = MESSAGE_REGISTERS; i < words; i++)
        CHECK_EQUAL(message_buffer()[i - MESSAGE_REGISTERS], i + 2);
}

static struct party *new_party(struct endpoint *e, char letter)
{
    static struct party parties[8];
    static unsigned next;
    struct party *party = &parties[next++ % 8];
    *party = (struct party){.endpoint = e, .letter = letter};
    return party;
}

static void calls_are_answered(void)
{
    static const uint64_t priorities[] = {RUNNER_PRIORITY - 1, RUNNER_PRIORITY,
                                          RUNNER_PRIORITY + 1};
    for (unsigned i = 0; i < 3; i++) {
        struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
        test_thread(serve, new_party(e, 's'), priorities[i]);
        for (int turn = 0; turn < 3; turn++) {
            call_and_check(e, 0);
            call_and_check(e, LONG_WORDS);
            call_and_check(e, MESSAGE_REGISTERS);
            call_and_check(e, MESSAGE_WORDS_MAX);
        }
    }
    CHECK(noted("ssssssssssssssssssssssssssssssssssss"));
}

static void too_long_messages_are_refused(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m = {0};
    CHECK_EQUAL(endpoint_call(e, MESSAGE_WORDS_MAX + 1, &m), ERROR_ARGUMENT);
    CHECK_EQUAL(endpoint_send(e, MESSAGE_WORDS_MAX + 1, &m), ERROR_ARGUMENT);
    CHECK_EQUAL(endpoint_reply_receive(e, ~0ul, &m), ERROR_ARGUMENT);
}

static void call_then_note(void *argument)
{
    const struct party *party = argument;
    struct message m = {{(uint64_t)party->letter}, 0};
    if (endpoint_call(party->endpoint, 1, &m) == ERROR_ABORTED)
        note('!');
    else
        note(party->letter);
}

static void send_then_note(void *argument)
{
    const struct party *party = argument;
    struct message m = {{(uint64_t)party->letter}, 0};
    CHECK_EQUAL(endpoint_send(party->endpoint, 1, &m), 0);
    note(party->letter);
}

static void equal_senders_are_received_in_order(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m;
    for (int i = 0; i < 3; i++)
        test_thread(i == 1 ? call_then_note : send_then_note, new_party(e, (char)('a' + i)),
                    RUNNER_PRIORITY + 1);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(endpoint_receive(e, &m), 1);
        CHECK_EQUAL(m.word[0], 'a' + i);
        if (i == 1)
            m.word[0] = 0;
    }
    CHECK(noted("a!c")); // b called and was not replied to before the next receive
}

static void more_urgent_sender_is_received_first(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m;
    test_thread(send_then_note, new_party(e, 'a'), RUNNER_PRIORITY + 1);
    test_thread(send_then_note, new_party(e, 'b'), RUNNER_PRIORITY + 2);
    endpoint_receive(e, &m);
    endpoint_receive(e, &m);
    CHECK(noted("ba"));
}

static void equal_receivers_serve_in_order(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    test_thread(serve, new_party(e, 'a'), RUNNER_PRIORITY + 1);
    test_thread(serve, new_party(e, 'b'), RUNNER_PRIORITY + 1);
    for (int i = 0; i < 4; i++)
        call_and_check(e, 1);
    CHECK(noted("abab"));
}

struct relay {
    struct endpoint *endpoint;
    struct semaphore *semaphore;
};

// With mcs=on the fast paths lead to passive servers only.
static void test_passive_server(test_body *body, void *argument, uint64_t priority)
{
    struct thread *t = test_thread_created(body, argument, priority);
    thread_set_passive(t, 1);
    thread_start(t);
}

static void take_then_note(void *semaphore)
{
    semaphore_take(semaphore, FOREVER);
    note('m');
}

// Makes a thread ready that is less urgent than this one but more than its caller, and replies.
static void wake_then_reply(void *argument)
{
    const struct relay *relay = argument;
    struct message m;
    endpoint_receive(relay->endpoint, &m);
    semaphore_give(relay->semaphore);
    note('s');
    endpoint_reply_receive(relay->endpoint, 0, &m);
}

static void reply_does_not_overtake_the_more_urgent(void)
{
    struct relay relay = {test_object(OBJECT_endpoint, 0, 0), test_object(OBJECT_semaphore, 0, 1)};
    test_thread(take_then_note, relay.semaphore, RUNNER_PRIORITY + 2);
    test_passive_server(wake_then_reply, &relay, RUNNER_PRIORITY + 3);
    test_thread(call_then_note, new_party(relay.endpoint, 'c'), RUNNER_PRIORITY + 1);
    CHECK(noted("smc"));
}

static void wake_then_call(void *argument)
{
    const struct relay *relay = argument;
    struct message m = {0};
    semaphore_give(relay->semaphore);
    endpoint_call(relay->endpoint, 0, &m);
    note('c');
}

static void call_does_not_overtake_the_more_urgent(void)
{
    struct relay relay = {test_object(OBJECT_endpoint, 0, 0), test_object(OBJECT_semaphore, 0, 1)};
    test_thread(take_then_note, relay.semaphore, RUNNER_PRIORITY + 2);
    test_passive_server(serve, new_party(relay.endpoint, 's'), RUNNER_PRIORITY + 1);
    test_thread(wake_then_call, &relay, RUNNER_PRIORITY + 3);
    CHECK(noted("msc"));
}

static void receive_and_stop(void *argument)
{
    const struct party *party = argument;
    struct message m;
    endpoint_receive(party->endpoint, &m);
    note(party->letter);
}

static void server_that_ends_aborts_the_call(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m = {0};
    test_thread(receive_and_stop, new_party(e, 's'), RUNNER_PRIORITY + 1);
    CHECK_EQUAL(endpoint_call(e, 0, &m), ERROR_ABORTED);
    CHECK(noted("s"));
}

static void aborted_callers_are_forgotten(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m = {0};
    struct thread *queued = test_thread(call_then_note, new_party(e, 'q'), RUNNER_PRIORITY + 1);
    thread_abort(queued);
    struct thread *received = test_thread(call_then_note, new_party(e, 'r'), RUNNER_PRIORITY + 1);
    CHECK_EQUAL(endpoint_receive(e, &m), 1);
    CHECK_EQUAL(m.word[0], 'r');
    thread_abort(received);
    test_thread(send_then_note, new_party(e, 's'), RUNNER_PRIORITY + 1);
    CHECK_EQUAL(endpoint_reply_receive(e, 0, &m), 1); // nobody there to reply to
    CHECK(noted("s"));
}

static void signal_ends_a_receive(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct notification *n = test_object(OBJECT_notification, 0, 0);
    struct message m = {0};
    notification_bind(n, e);
    notification_signal(n);
    CHECK_EQUAL(endpoint_receive(e, &m), MESSAGE_SIGNAL);
    CHECK_EQUAL(m.badge, 1);
    CHECK_EQUAL(notification_poll(n), 0);
    test_thread(receive_and_stop, new_party(e, 's'), RUNNER_PRIORITY + 1);
    notification_signal(n);
    CHECK_EQUAL(notification_poll(n), 0);
    CHECK(noted("s"));
}

static void wait_then_note(void *argument)
{
    note((char)('a' + notification_wait(argument)));
}

static void signals_wake_or_wait(void)
{
    struct notification *n = test_object(OBJECT_notification, 0, 0);
    CHECK_EQUAL(notification_poll(n), 0);
    notification_signal(n);
    notification_signal(n);
    CHECK_EQUAL(notification_wait(n), 1);
    CHECK_EQUAL(notification_poll(n), 0);
    test_thread(wait_then_note, n, RUNNER_PRIORITY + 1);
    notification_signal(n);
    CHECK(noted("b"));
    CHECK_EQUAL(notification_poll(n), 0);
}

#if CONFIG_USERSPACE
static void programs_call_with_badges(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct object *objects[] = {test_object(OBJECT_semaphore, 0, 1), &e->object, NULL};
    struct message m;
    test_program(PROGRAM_call_server, RUNNER_PRIORITY + 1, objects);
    CHECK_EQUAL(endpoint_receive(e, &m), LONG_WORDS);
    CHECK_EQUAL(m.badge, 4); // of handle 2
    CHECK_EQUAL(m.word[3], 4);
    CHECK_EQUAL(message_buffer()[LONG_WORDS - MESSAGE_REGISTERS - 1], LONG_WORDS);
    message_buffer()[0] = 55;
    m.word[0] = 50;
    test_thread(send_then_note, new_party(e, 'x'), RUNNER_PRIORITY - 1);
    endpoint_reply_receive(e, MESSAGE_REGISTERS + 1, &m);
    CHECK_EQUAL(test_shared()[1], MESSAGE_REGISTERS + 1);
    CHECK_EQUAL(test_shared()[2], 50);
    CHECK_EQUAL(test_shared()[3], 55);
}
#endif

const struct test endpoint_tests[] = {
    {"calls of any length are answered, by servers of any priority", calls_are_answered},
    {"too long messages are refused", too_long_messages_are_refused},
    {"equal senders are received in order", equal_senders_are_received_in_order},
    {"the more urgent sender is received first", more_urgent_sender_is_received_first},
    {"equal receivers serve in order", equal_receivers_serve_in_order},
    {"a call does not overtake the more urgent", call_does_not_overtake_the_more_urgent},
    {"a reply does not overtake the more urgent", reply_does_not_overtake_the_more_urgent},
    {"a server that ends aborts the call", server_that_ends_aborts_the_call},
    {"aborted callers are forgotten", aborted_callers_are_forgotten},
    {"a bound notification ends a receive", signal_ends_a_receive},
    {"signals wake or wait", signals_wake_or_wait},
#if CONFIG_USERSPACE
    {"programs call with badge and buffer", programs_call_with_badges},
#endif
    END_OF_TESTS,
};
