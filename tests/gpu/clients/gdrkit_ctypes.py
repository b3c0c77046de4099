# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The calls of libgdrkit.so that the client tests use."""
import ctypes
import os


class PinInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32), ("page_size_bytes", ctypes.c_uint32), ("page_address", ctypes.c_uint64),
        ("page_bytes", ctypes.c_uint64), ("user_address", ctypes.c_uint64), ("user_bytes", ctypes.c_uint64),
        ("is_mapped", ctypes.c_int32), ("mapping_type", ctypes.c_int32), ("verification", ctypes.c_int32),
        ("reserved", ctypes.c_int32), ("address", ctypes.c_void_p)]


class Gdrkit:
    def __init__(self, library_folder):
        self.lib = ctypes.CDLL(os.path.join(library_folder, "libgdrkit.so"))
        self.lib.gdrkit_last_error.restype = ctypes.c_char_p
        self.context = ctypes.c_uint64(0)
        self.check(self.lib.gdrkit_open(None, ctypes.byref(self.context)))

    def check(self, result):
        if result != 0:
            raise OSError(-result, self.lib.gdrkit_last_error().decode())

    def map(self, tensor):
        return Mapping(self, tensor.data_ptr(), tensor.numel() * tensor.element_size())

    def close(self):
        self.check(self.lib.gdrkit_close(self.context))


class Mapping:
    def __init__(self, gdrkit, address, size):
        self.gdrkit, self.size, self.pin = gdrkit, size, ctypes.c_uint64(0)
        gdrkit.check(gdrkit.lib.gdrkit_pin(gdrkit.context, ctypes.c_uint64(address), ctypes.c_size_t(size),
                                           ctypes.byref(self.pin)))
        pointer = ctypes.c_void_p()
        gdrkit.check(gdrkit.lib.gdrkit_map(self.pin, None, ctypes.byref(pointer)))

    def write(self, data, offset=0):
        self.gdrkit.check(self.gdrkit.lib.gdrkit_write(self.pin, ctypes.c_size_t(offset), data, ctypes.c_size_t(len(data))))

    def read(self, size=None, offset=0):
        size = self.size if size is None else size
        target = ctypes.create_string_buffer(size)
        self.gdrkit.check(self.gdrkit.lib.gdrkit_read(self.pin, ctypes.c_size_t(offset), target, ctypes.c_size_t(size)))
        return target.raw

    def verification(self):
        info = PinInfo(struct_size=ctypes.sizeof(PinInfo))
        self.gdrkit.check(self.gdrkit.lib.gdrkit_get_pin_info(self.pin, ctypes.byref(info)))
        return {0: "interface", 1: "content", 2: "structural", 3: "calibrated"}[info.verification]

    def close(self):
        self.gdrkit.check(self.gdrkit.lib.gdrkit_unpin(self.pin))
