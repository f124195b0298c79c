/* main.c: the simulated kernel driver by its own interface, without ROCm: run by rmcp sim. */
#include "driver.h"

int main(void)
{
    const struct CMUnitTest first[] = {
        cmocka_unit_test(devices_look_like_devices),
        cmocka_unit_test(answers_fit_shorter_structures),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(mappings_do_not_overlap),
        cmocka_unit_test(a_child_begins_anew),
    };
    const struct CMUnitTest second[] = {
        cmocka_unit_test(events_wake_those_who_wait),
        cmocka_unit_test(an_old_age_is_told_once_at_once),
        cmocka_unit_test(events_wake_all_who_wait),
        cmocka_unit_test(copies),
        cmocka_unit_test(writes_and_fills),
        cmocka_unit_test(atomics),
        cmocka_unit_test(polls_and_interrupts),
        cmocka_unit_test(a_queue_ends_with_its_kernel),
        cmocka_unit_test(parts_of_memory),
        cmocka_unit_test(memory_of_two_processes),
        cmocka_unit_test(a_fault_is_an_event),
    };
    const int failed = cmocka_run_group_tests(first, open_devices, NULL);
    return failed ? failed : cmocka_run_group_tests(second, make_queue, drop_queue);
}
