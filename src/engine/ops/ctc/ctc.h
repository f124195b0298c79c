/* ctc.h: connectionist temporal classification: the loss of sequences of classes against labels
 * whose places in time are not known, and its gradient (A. Graves and others, 2006).
 *
 * x is [steps][batch][classes]. A path names one class for each step; it says a label when that
 * remains once repetitions and then blanks are taken out. The loss of a sequence is -log of the
 * probability of all paths that say its label.
 *
 * softmax  x are logits, whose softmax are the probabilities; dx is the gradient of x
 * logs     x are logarithms of probabilities, which need not add up to 1; dx is the gradient of the
 *          probabilities themselves, as MIOpen has it
 *
 * Labels and lengths are read where the tensors are, when the plan is executed: plans then serve
 * all batches of a size. Those out of range are taken as the nearest that is not. A label that no
 * path can say has the loss Inf, and its gradient is that of classes that are never meant. */
#ifndef RMCP_OPS_CTC_H
#define RMCP_OPS_CTC_H

#include "engine/core/form.h"

enum {
    RMCP_CTC_X,
    RMCP_CTC_TARGETS, /* i32 [batch][labels]                                            */
    RMCP_CTC_LENGTHS, /* i32 [batch][2]: steps of the sequence, classes of its label    */
    RMCP_CTC_LOSS,    /* [batch]                                                        */
    RMCP_CTC_DX,      /* 0 behind the end of a sequence                                 */
    RMCP_CTC_SLOTS
};

enum { RMCP_CTC_MODE, RMCP_CTC_TYPE };                     /* traits  */
enum { RMCP_CTC_SOFTMAX, RMCP_CTC_LOGS };                  /* modes   */
enum { RMCP_CTC_LABELS, RMCP_CTC_BLANK };                  /* numbers */
enum { RMCP_CTC_STEPS, RMCP_CTC_BATCH, RMCP_CTC_CLASSES }; /* sizes   */

rmcp_status rmcp_ctc_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

#endif
