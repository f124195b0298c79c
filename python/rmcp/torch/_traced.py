"""Modules traced by PyTorch alone: torch.jit.trace records aten::_convolution, which is not overridden."""
import io

import torch


def _rewrite(graph, block):
    """aten::_convolution to aten::convolution: the same but for four flags of cuDNN at the end."""
    count = 0
    for node in list(block.nodes()):
        for inner in node.blocks():
            count += _rewrite(graph, inner)
        if node.kind() != "aten::_convolution":
            continue
        new = graph.create("aten::convolution", list(node.inputs())[:9], 1)
        new.insertBefore(node)
        new.output().setType(node.output().type())
        node.output().replaceAllUsesWith(new.output())
        node.destroy()
        count += 1
    return count


def adopt_traced(module):
    """A copy of a traced module whose convolutions go where aten::convolution goes: to RMCP while it
    is enabled, else to PyTorch. Modules traced while RMCP is enabled need no such help."""
    if not isinstance(module, torch.jit.ScriptModule):
        raise TypeError(f"adopt_traced takes a traced or loaded ScriptModule, not {type(module).__name__}")
    file = io.BytesIO()
    torch.jit.save(module, file)  # a module that has run keeps the code it ran; a loaded one has none yet
    file.seek(0)
    copy = torch.jit.load(file)
    copy.train(module.training)
    for part in copy.modules():
        if part._c._has_method("forward"):
            graph = part._c._get_method("forward").graph
            _rewrite(graph, graph)
    return copy
