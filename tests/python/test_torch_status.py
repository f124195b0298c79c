#!/usr/bin/env python3
"""test_torch_status.py: enable() says what it will catch and what is in the way; results have PyTorch's strides."""
import unittest
import unittest.mock
import warnings

import torch_support as support
import torch
import torch.nn.functional as F
from torch import nn

import rmcp.torch
from rmcp.torch import _hook


def said(call):
    """What call() returns, and the texts of its RmcpWarnings with the file each points at."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    ours = [w for w in caught if issubclass(w.category, rmcp.torch.RmcpWarning)]
    return result, [str(w.message) for w in ours], {w.filename for w in ours}


class Enabling(unittest.TestCase):
    def tearDown(self):
        rmcp.torch.disable()

    def test_cpu(self):
        status, texts, _files = said(lambda: rmcp.torch.enable("cpu"))
        self.assertTrue(status)
        self.assertEqual((status.device_types, status.catches, status.problems), (("cpu",), ("cpu",), ()))
        self.assertEqual(texts, [])
        self.assertIn("tensors on cpu", str(status))
        self.assertEqual(status.native, support.NATIVE)
        self.assertEqual(bool(status.why_not_native), not status.native)

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_no_gpu(self):
        for call in (rmcp.torch.enable, lambda: rmcp.torch.enable("cuda")):
            status, texts, files = said(call)
            self.assertFalse(status)
            self.assertEqual((status.device_types, status.catches), (("cuda",), ()))
            self.assertEqual(len(texts), 1)
            self.assertRegex(texts[0], "no convolution of tensors on 'cuda'")
            self.assertRegex(texts[0], "(built for the CPU alone|sees no GPU).*'cpu'")
            self.assertEqual(files, {__file__})
            self.assertIn("takes no convolutions", str(status))

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_half_of_it(self):
        status, texts, _files = said(lambda: rmcp.torch.enable(("cpu", "cuda")))
        self.assertTrue(status)
        self.assertEqual(status.catches, ("cpu",))
        self.assertEqual(len(texts), 1)

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_context_manager(self):
        def use():
            with rmcp.torch.enabled("cuda") as status:
                return status
        status, texts, files = said(use)
        self.assertFalse(status)
        self.assertEqual((len(texts), files), (1, {__file__}))

    def test_plain_loops(self):
        info = rmcp.Device("cpu").describe()
        info.why = b"slow: this librmcp was built for oneDNN 2"
        with unittest.mock.patch("rmcp._api.Device.describe", lambda _self: info):
            status, texts, _files = said(lambda: rmcp.torch.enable("cpu"))
        self.assertTrue(status)
        self.assertRegex(texts[0], "plain loops.*built for oneDNN 2")


class Unseen(unittest.TestCase):
    """Modules whose convolutions no dispatcher sees."""

    class Blind(nn.Sequential):
        pass

    def optimized(self):
        module = torch.jit.script(self.Blind(nn.Conv2d(3, 8, 3), nn.ReLU()).eval())
        return torch.jit.optimize_for_inference(module)

    def tearDown(self):
        rmcp.torch.disable()

    def test_made_before(self):
        module = self.optimized()
        if "mkldnn_convolution" not in str(module.graph):
            self.skipTest("this PyTorch leaves convolutions as they are")
        status, texts, _files = said(lambda: rmcp.torch.enable("cpu"))
        self.assertTrue(any("module Blind" in text and "pass RMCP by" in text for text in texts), texts)
        self.assertTrue(status.problems)
        del module

    def test_made_while_enabled(self):
        rmcp.torch.enable("cpu")
        module, texts, files = said(self.optimized)
        if "mkldnn_convolution" not in str(module.graph):
            self.skipTest("this PyTorch leaves convolutions as they are")
        self.assertEqual(len(texts), 1)
        self.assertIn("module Blind", texts[0])
        self.assertEqual(files, {__file__})
        rmcp.torch.disable()
        self.assertEqual(said(self.optimized)[1], [])

    def test_fused_on_a_gpu(self):
        """What the same makes of convolutions there, computed from ours."""
        x, w, b, z = torch.randn(2, 3, 9, 9), torch.randn(4, 3, 3, 3), torch.randn(4), torch.randn(2, 4, 5, 5)
        rest = [2, 2], [1, 1], [1, 1], 1
        plain = F.conv2d(x, w, b, stride=2, padding=1)
        torch.testing.assert_close(_hook._convolution_relu(x, w, b, *rest), plain.relu())
        torch.testing.assert_close(_hook._convolution_add_relu(x, w, z, 0.5, b, *rest), (plain + 0.5 * z).relu())
        torch.testing.assert_close(_hook._convolution_add_relu(x, w, z, None, b, *rest), (plain + z).relu())


class Strides(unittest.TestCase):
    """Outputs are laid out as PyTorch lays them out, volumes too."""

    def check(self, call, *tensors):
        native = call(*tensors)
        with rmcp.torch.enabled("cpu", strict=True):
            for _ in range(2):
                ours = call(*tensors)
                self.assertEqual(ours.stride(), native.stride())
                torch.testing.assert_close(ours, native, rtol=1e-4, atol=1e-4)

    def test_volumes(self):
        last = torch.channels_last_3d
        x, w, t = torch.randn(2, 3, 6, 7, 8), torch.randn(4, 3, 3, 2, 3), torch.randn(3, 4, 2, 3, 2)
        for x_format in (torch.contiguous_format, last):
            for w_format in (torch.contiguous_format, last):
                x_, w_ = x.contiguous(memory_format=x_format), w.contiguous(memory_format=w_format)
                with self.subTest(x=x_format, w=w_format):
                    self.check(F.conv3d, x_, w_)
                    self.check(F.conv_transpose3d, x_, t.contiguous(memory_format=w_format))
                    self.check(lambda x, w: F.conv3d(x, w, stride=2, dilation=(1, 2, 1), padding=1), x_, w_)


if __name__ == "__main__":
    unittest.main()
