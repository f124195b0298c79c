/* columns.h: a test of the columns of the instruction table against the names of its rows. */
#ifndef RMCP_TESTS_ISA_COLUMNS_H
#define RMCP_TESTS_ISA_COLUMNS_H

void test_columns_agree_with_names(void **state);

#endif
